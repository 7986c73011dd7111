import { join } from 'node:path';
import { LIMITS } from '../shared/limits.js';
import { createSystemClock } from './clock.js';
import { compose, type House } from './compose.js';
import { packageRoot, type Config } from './config.js';
import { seedCorpus } from './ingest/seed-corpus.js';
import { createLog } from './log.js';
import { createMetrics } from './metrics.js';
import { createSession } from './session.js';
import { createAdmission } from './transport/admission.js';
import { createHttpServer, type HttpServer } from './transport/http-server.js';
import { createSessionRegistry } from './transport/session-registry.js';
import { createTokenVerifier, SCOPES } from './transport/tokens.js';
import { createRoutes } from './routes.js';
import { createProgressLine } from './commands/progress-line.js';

const NOTICES = {
  clinical: 'Not for clinical use: answers are quotations from the evidence shown, not advice.',
  audioKept: 'The sound of your questions is kept on this server.',
  audioNotKept: 'The sound of your questions is not kept.',
} as const;

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  /** Lets sessions end, then frees everything; a second call hurries the first. */
  close(): Promise<void>;
}

/** Listens at once, so that health can be asked; sockets wait until the weights and indexes are loaded. */
export async function startServer(config: Config): Promise<RunningServer> {
  const clock = createSystemClock();
  const log = createLog(config.logLevel);
  const metrics = createMetrics();
  const limits = { ...LIMITS, sessions: config.maxSessions };
  let house: House | null = null;
  const waitingFor = ['loading the models and indexes'];

  const loading = load(config, clock).then((loaded) => (house = loaded));
  const registry = loading.then((loaded) =>
    createSessionRegistry({
      clock,
      limits,
      createSession: (seed) =>
        createSession(seed, {
          engines: loaded.engines,
          defaults: {
            queryMode: config.queryMode,
            contract: config.contract,
            generator: loaded.engines.generator.id,
            speechEncoder: loaded.engines.speechEncoder.modelId,
            textEncoder: loaded.engines.textEncoder.modelId,
            transcriber: loaded.engines.transcriber !== null,
            deadlineMs: config.deadlineMs,
          },
          log,
          notices: [NOTICES.clinical, config.retainAudio ? NOTICES.audioKept : NOTICES.audioNotKept],
          observe: {
            event: (event) => metrics.event(event),
            turn(trace) {
              metrics.turn(trace);
              loaded.engines.traceSink
                .write(trace)
                .catch((error: unknown) => log.error({ error }, 'trace was not written'));
            },
          },
        }),
    }),
  );
  registry.catch(() => undefined);

  const server = await listen();
  try {
    await loading;
  } catch (error) {
    await server.close();
    throw error;
  }
  log.info({ url: server.url, run: loading }, 'ready');
  return {
    url: server.url,
    port: server.port,
    async close() {
      await server.close();
      await (await loading).close();
    },
  };

  function listen(): Promise<HttpServer> {
    return createHttpServer({
      clock,
      limits,
      host: config.host,
      port: config.port,
      clientDir: join(packageRoot(), 'dist', 'client'),
      admission: createAdmission({
        limits,
        allowedOrigins: config.origins,
        tokens: createTokenVerifier({
          clock,
          secret: config.tokenSecret === '' ? null : config.tokenSecret,
          staticTokens: config.tokens.map((token, index) => ({
            token,
            subject: `token-${index + 1}`,
            scopes: [...SCOPES],
          })),
        }),
      }),
      onConnection: (connection) => void registry.then((sessions) => sessions.accept(connection)),
      readiness: () => (house ? { ready: true } : { ready: false, waitingFor }),
      routes: createRoutes(loading),
      metrics: metrics.registry,
      drain: async () => (await registry).drain(),
      observer: {
        onSockets: (open) => metrics.sockets(open),
        onDropped: (type) => metrics.dropped(type),
        onRefused: (code) => metrics.refused(code),
        onFault: (fault) => log.error({ err: fault }, 'http fault'),
      },
    });
  }
}

/** Everything loaded, and the demo corpus indexed on the first start. */
async function load(config: Config, clock: ReturnType<typeof createSystemClock>): Promise<House> {
  const progress = createProgressLine();
  const house = await compose(config, clock, (step) => progress.show(step));
  if (config.corpus !== '') await seedCorpus(config.corpus, house, (step) => progress.show(step));
  progress.end();
  return house;
}
