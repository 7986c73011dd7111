import { join } from 'node:path';
import { LIMITS, type Limits } from '../shared/limits.js';
import { encodeWav } from './audio/wav-writer.js';
import { createSystemClock, type Clock } from './clock.js';
import { createProgressLine } from './commands/progress-line.js';
import { compose, type House } from './compose.js';
import { packageRoot, type Config } from './config.js';
import { createLog, type Log } from './log.js';
import { createMetrics, type Metrics } from './metrics.js';
import { createRecordings } from './privacy/recordings.js';
import { createRetention, type Retention } from './privacy/retention.js';
import { createRoutes } from './routes.js';
import { createSession, type SessionOptions } from './session.js';
import { createAdmission } from './transport/admission.js';
import type { Connection } from './transport/connection.js';
import type { HttpRoute } from './transport/http-route.js';
import { createHttpServer } from './transport/http-server.js';
import { createSessionRegistry } from './transport/session-registry.js';
import { createTelephoneRoutes } from './transport/telephone-routes.js';
import { createTokenVerifier, SCOPES } from './transport/tokens.js';
import type { UpgradeRoute } from './transport/upgrades.js';

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  /** Lets sessions end, then frees everything; a second call hurries the first. */
  close(): Promise<void>;
}

/** What the parts of a running server share. */
interface Surroundings {
  readonly config: Config;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Listens at once, so that health can be asked; sockets wait until the weights and indexes are loaded. */
export async function startServer(config: Config): Promise<RunningServer> {
  const around: Surroundings = {
    config,
    clock: createSystemClock(),
    limits: limitsOf(config),
    log: createLog(config.logLevel),
    metrics: createMetrics(),
  };
  // Nothing is loaded or written before the port is ours.
  let begin = (): void => undefined;
  const loading = new Promise<void>((resolve) => (begin = resolve)).then(() => load(around));
  const keeping = loading.then((house) => retentionOf(house, around));
  const registry = Promise.all([loading, keeping]).then(([house, retention]) =>
    createSessionRegistry({
      clock: around.clock,
      limits: around.limits,
      createSession: (seed) => createSession(seed, sessionOptions(house, retention, around)),
    }),
  );
  // Whoever waits for it hears of a failure; before that nobody may.
  registry.catch(() => undefined);
  const accept = (connection: Connection): void =>
    void registry.then((sessions) => sessions.accept(connection));
  const phone = telephone(around, accept);
  let ready = false;
  const server = await createHttpServer({
    ...doors(around),
    routes: [...createRoutes(loading), ...phone.routes],
    upgrades: phone.upgrades,
    onConnection: accept,
    readiness: () => (ready ? { ready } : { ready, waitingFor: ['the models and indexes'] }),
    drain: async () => (await registry).drain(),
  });
  begin();
  const house = await loading.catch(async (error: unknown) => {
    await server.close();
    throw error;
  });
  const retention = await keeping;
  ready = true;
  const stopWatching = watchIndex(house, around);
  const stopPurging = retention.watch((error) => around.log.error({ err: error }, 'a purge failed'));
  around.log.info({ url: server.url, run: house.manifest.runId }, 'ready');
  return {
    url: server.url,
    port: server.port,
    async close() {
      stopWatching();
      stopPurging();
      await server.close();
      await retention.settle();
      await house.close();
    },
  };
}

function limitsOf(config: Config): Limits {
  const { connectionsPerMinute, maxSessions: sessions, sessionsPerAddress } = config;
  return { ...LIMITS, connectionsPerMinute, sessions, sessionsPerAddress };
}

/** Everything loaded, with progress for people. */
async function load({ config, clock }: Surroundings): Promise<House> {
  const progress = createProgressLine();
  const house = await compose(config, clock, (step) => progress.show(step));
  house.learnTerms();
  progress.end();
  return house;
}

function retentionOf({ engines: { traceSink } }: House, { clock, config: policy }: Surroundings): Retention {
  const recordings = createRecordings({ folder: join(policy.data, 'audio'), toWav: encodeWav });
  return createRetention({ clock, policy, traceSink, recordings });
}

function sessionOptions(
  { engines }: House,
  retention: Retention,
  { config, limits, log, metrics }: Surroundings,
): SessionOptions {
  const notWritten = (what: string) => (error: unknown) =>
    log.error({ err: error }, `a ${what} was not written`);
  return {
    engines,
    defaults: {
      queryMode: config.queryMode,
      contract: config.contract,
      generator: engines.generator.id,
      speechEncoder: engines.speechEncoder.modelId,
      textEncoder: engines.textEncoder.modelId,
      transcriber: engines.transcriber !== null,
      deadlineMs: config.deadlineMs,
    },
    log,
    limits,
    notices: retention.notices,
    observe: {
      event: (event) => metrics.event(event),
      turn(trace) {
        metrics.turn(trace);
        retention.keepTrace(trace).catch(notWritten('trace'));
      },
      ...(retention.keepsAudio
        ? { utterance: (heard) => void retention.keepAudio(heard).catch(notWritten('recording')) }
        : {}),
    },
  };
}

function doors({ config, clock, limits, log, metrics }: Surroundings) {
  const staticTokens = config.tokens.map((token, index) => ({
    token,
    subject: `token-${index + 1}`,
    scopes: [...SCOPES],
  }));
  const secret = config.tokenSecret === '' ? null : config.tokenSecret;
  return {
    clock,
    limits,
    host: config.host,
    port: config.port,
    clientDir: join(packageRoot(), 'dist', 'client'),
    admission: createAdmission({
      limits,
      allowedOrigins: config.origins,
      tokens: createTokenVerifier({ clock, secret, staticTokens }),
    }),
    metrics: metrics.registry,
    observer: {
      onSockets: (open: number) => metrics.sockets(open),
      onDropped: (type: string) => metrics.dropped(type),
      onRefused: (code: string) => metrics.refused(code),
      onFault: (fault: unknown) => log.error({ err: fault }, 'http fault'),
    },
  };
}

/** The telephone's two doors, where its account is configured. */
function telephone(
  { config, clock, limits, log }: Surroundings,
  onConnection: (connection: Connection) => void,
): { readonly routes: HttpRoute[]; readonly upgrades: UpgradeRoute[] } {
  if (config.twilioAuthToken === '' || config.publicUrl === '') return { routes: [], upgrades: [] };
  const { twilioAuthToken: authToken, publicUrl } = config;
  const onFault = (fault: unknown) => log.error({ err: fault }, 'telephone fault');
  const { voice, stream } = createTelephoneRoutes({
    clock,
    limits,
    authToken,
    publicUrl,
    onConnection,
    onFault,
  });
  return { routes: [voice], upgrades: [stream] };
}

/** How often the server looks for documents that were ingested beside it, milliseconds. */
const RELOAD_MS = 5_000;

/** Takes up what `auscult ingest` wrote, while searches go on. */
function watchIndex(house: House, { clock, log }: Surroundings): () => void {
  let cancel = (): void => undefined;
  let stopped = false;
  const look = async (): Promise<void> => {
    try {
      if (await house.index.reload()) {
        house.learnTerms();
        log.info({ stores: house.index.stats() }, 'index reloaded');
      }
    } catch (error) {
      log.error({ err: error }, 'the index could not be reloaded');
    }
    if (!stopped) cancel = clock.after(RELOAD_MS, () => void look());
  };
  cancel = clock.after(RELOAD_MS, () => void look());
  return () => {
    stopped = true;
    cancel();
  };
}
