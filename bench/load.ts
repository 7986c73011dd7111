import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readSpeech } from '../server/audio/audio-file.js';
import { createSystemClock } from '../server/clock.js';
import { packageRoot } from '../server/config.js';
import type { LiveClient } from '../server/transport/live-client.js';
import { defaultData, keepResult } from './data.js';
import { driftOf, mergeLogs, percentilesOf, processorsBusy, type TimedLook } from './load-report.js';
import { startServerUnderLoad, type ServerUnderLoad } from './load-server.js';
import { codeOf, count, openSession, speak, until } from './load-speaker.js';
import { quantile } from './metrics.js';
import { createRandom } from './misspell.js';
import { figure, formatTable } from './table.js';

/** Silence before each question, milliseconds: a person reads what came. */
const PAUSE_MS = 3_000;
/** Between two looks at the server's metrics, milliseconds. */
const LOOK_MS = 5_000;
/** Rests before and after sessions are opened, so that memory has settled. */
const SETTLE_MS = 3_000;
const CLIPS = 24;
const MIB = 2 ** 20;

interface Options {
  readonly sessions: number;
  readonly speakers: number;
  readonly seconds: number;
  readonly label: string;
}

/**
 * Many live sessions at once, over real sockets, in real time, the server in a process of its own. `--sessions N` in all, of which
 * `--speak M` speak (default all) for `--seconds S` (default 60); `--idle N` opens N that say nothing; `--soak MINUTES` speaks for so
 * long and watches memory and handles. `--batch B` windows of different sessions encoded together, `--threads` of each model,
 * `--mode` speech or speech+words (the server's default). Both processes share this machine's processors.
 */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sessions: { type: 'string' },
      speak: { type: 'string' },
      seconds: { type: 'string' },
      idle: { type: 'string' },
      soak: { type: 'string' },
      batch: { type: 'string', default: '1' },
      threads: { type: 'string', default: '2' },
      mode: { type: 'string', default: 'speech+words' },
      data: { type: 'string', default: defaultData() },
      models: { type: 'string' },
    },
  });
  const number = (value: string | undefined, fallback: number): number => {
    const parsed = value === undefined ? fallback : Number(value);
    if (!Number.isFinite(parsed) || parsed < 0)
      throw new RangeError(`${String(value)} is no number of 0 or more.`);
    return parsed;
  };
  const idle = number(values.idle, 0);
  const soak = number(values.soak, 0);
  const sessions = idle > 0 ? idle : number(values.sessions, 20);
  const speakers = idle > 0 ? 0 : Math.min(sessions, number(values.speak, sessions));
  const seconds = soak > 0 ? soak * 60 : number(values.seconds, idle > 0 ? 20 : 60);
  const kind = idle > 0 ? 'idle' : soak > 0 ? 'soak' : 'speak';
  const label = `${kind} ${speakers}/${sessions} batch ${values.batch} threads ${values.threads} ${values.mode}`;
  const clips = await readClips(values.data);
  const server = await startServerUnderLoad({
    batch: number(values.batch, 1),
    threads: number(values.threads, 2),
    models: values.models,
    queryMode: values.mode,
  });
  try {
    const result = await load(server, clips, { sessions, speakers, seconds, label });
    print(result);
    await keep(result);
    return server.ended() ? 1 : 0;
  } finally {
    await server.stop();
  }
}

/** Spoken questions from the data sets, else the page's own samples; 16-bit at 16 kHz. */
async function readClips(data: string): Promise<Int16Array[]> {
  const spoken = join(data, 'spoken', 'pubmedqa', 'audio');
  const folder = existsSync(spoken) ? spoken : join(packageRoot(), 'client', 'public', 'samples');
  const names = readdirSync(folder)
    .filter((name) => /\.(flac|wav)$/.test(name))
    .sort()
    .slice(0, CLIPS);
  const clips: Int16Array[] = [];
  for (const name of names) {
    const samples = await readSpeech(join(folder, name));
    clips.push(Int16Array.from(samples, (value) => Math.round(Math.max(-1, Math.min(1, value)) * 32_767)));
  }
  return clips;
}

async function load(server: ServerUnderLoad, clips: readonly Int16Array[], options: Options) {
  const clock = createSystemClock();
  const random = createRandom(1);
  const looks: TimedLook[] = [];
  const look = async (): Promise<TimedLook> => ({ ...(await server.look()), atMs: clock.nowMs() });
  await until(clock, clock.nowMs() + SETTLE_MS);
  await look();
  await until(clock, clock.nowMs() + SETTLE_MS);
  const before = await look();

  const opening: Record<string, number> = {};
  const silent = await openSilent(server.liveUrl, options.sessions - options.speakers, opening);
  const endMs = clock.nowMs() + options.seconds * 1_000;
  const speaking = Array.from({ length: options.speakers }, async (_, first) => {
    // People do not begin in the same instant.
    await until(clock, clock.nowMs() + random() * PAUSE_MS * 2);
    return speak({
      url: server.liveUrl,
      clock,
      clips,
      first,
      pauseMs: PAUSE_MS,
      stopped: () => clock.nowMs() >= endMs || server.ended(),
    });
  });
  const logs = Promise.all(speaking);
  const everyMs = Math.min(options.seconds * 250, Math.max(LOOK_MS, options.seconds * 10));
  while (clock.nowMs() < endMs && !server.ended()) {
    await until(clock, Math.min(endMs, clock.nowMs() + everyMs));
    if (!server.ended()) looks.push(await look());
  }
  const all = mergeLogs(await logs);
  const held = silent.filter(({ isOpen }) => isOpen()).length;
  for (const { client } of silent) client.close();
  return reportOf({ options, before, looks, all, opening, held, ended: server.ended() });
}

interface SilentSession {
  readonly client: LiveClient;
  readonly isOpen: () => boolean;
}

/** Sessions that are ready and say nothing. A few at a time: it is not the accept queue that is measured. */
async function openSilent(
  url: string,
  total: number,
  failures: Record<string, number>,
): Promise<SilentSession[]> {
  const opened: SilentSession[] = [];
  const openOne = async (): Promise<void> => {
    try {
      const client = await openSession(url);
      let open = true;
      const ready = new Promise<void>((resolve, reject) => {
        const watch = async (): Promise<void> => {
          for await (const event of client.events) {
            if (event.type === 'session.ready') resolve();
            if (event.type === 'error') count(failures, event.code);
          }
        };
        watch().then(
          () => ((open = false), reject(new Error('closed'))),
          (error: unknown) => ((open = false), reject(error as Error)),
        );
      });
      await ready;
      opened.push({ client, isOpen: () => open });
    } catch (error) {
      count(failures, codeOf(error));
    }
  };
  for (let done = 0; done < total; done += 20)
    await Promise.all(Array.from({ length: Math.min(20, total - done) }, openOne));
  return opened;
}

function reportOf(measured: {
  readonly options: Options;
  readonly before: TimedLook;
  readonly looks: readonly TimedLook[];
  readonly all: ReturnType<typeof mergeLogs>;
  readonly opening: Readonly<Record<string, number>>;
  readonly held: number;
  readonly ended: boolean;
}) {
  const { options, before, looks, all } = measured;
  const last = looks.at(-1) ?? before;
  const peak = Math.max(...looks.map(({ residentBytes }) => residentBytes));
  const lags = looks.map(({ loopP99Ms }) => loopP99Ms);
  return {
    ...options,
    processors: cpus().length,
    asked: all.asked,
    answered: all.answered,
    unanswered: all.unanswered,
    /** Cut off by the end of the run. */
    unfinished: Math.max(0, all.asked - all.answered - all.unanswered - sumOf(all.rejected)),
    rejected: all.rejected,
    errors: { ...all.errors, ...measured.opening },
    refusedByServer: last.refused - before.refused,
    droppedEvents: last.dropped - before.dropped,
    silentSessionsHeld: measured.held,
    serverDied: measured.ended,
    evidenceAfterEndMs: percentilesOf(all.evidenceServerMs),
    evidenceAfterEndAtClientMs: percentilesOf(all.evidenceWallMs),
    evidenceAfterLastSampleMs: percentilesOf(all.evidenceHeardMs),
    turnDoneAfterEndMs: percentilesOf(all.doneMs),
    eventLoopP99Ms: { idle: before.loopP99Ms, median: quantile(lags, 0.5), worst: Math.max(...lags) },
    memoryMiB: {
      before: before.residentBytes / MIB,
      peak: peak / MIB,
      perSession: (peak - before.residentBytes) / MIB / options.sessions,
    },
    processorsBusy: processorsBusy(looks[0] ?? before, last),
    drift: {
      residentMiB: driftOf(looks, 'residentBytes') / MIB,
      heapMiB: driftOf(looks, 'heapBytes') / MIB,
      handles: driftOf(looks, 'handles'),
      openFiles: driftOf(looks, 'openFiles'),
    },
    looks: looks.map(({ atMs, residentBytes, handles, openFiles, loopP99Ms }) => ({
      seconds: Math.round((atMs - before.atMs) / 1_000),
      residentMiB: Math.round(residentBytes / MIB),
      handles,
      openFiles,
      loopP99Ms: Math.round(loopP99Ms * 10) / 10,
    })),
  };
}

type Report = ReturnType<typeof reportOf>;

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, times) => sum + times, 0);
}

function print(report: Report): void {
  const line = (name: string, found: Report['evidenceAfterEndMs']): string[] => [
    name,
    String(found?.n ?? 0),
    ...[found?.p50, found?.p95, found?.p99].map((value) => figure(value, 0)),
  ];
  console.log(`${report.label}, ${report.seconds} s, ${report.processors} processors shared by both sides`);
  console.log(
    formatTable(
      ['milliseconds', 'n', 'p50', 'p95', 'p99'],
      [
        line('declared end → evidence (server)', report.evidenceAfterEndMs),
        line('declared end → evidence (client)', report.evidenceAfterEndAtClientMs),
        line('last sample → evidence (client)', report.evidenceAfterLastSampleMs),
        line('declared end → turn done (server)', report.turnDoneAfterEndMs),
      ],
    ),
  );
  const { eventLoopP99Ms: lag, memoryMiB, drift } = report;
  console.log(
    `asked ${report.asked}, answered ${report.answered}, unanswered ${report.unanswered}, unfinished ${report.unfinished}, rejected ${JSON.stringify(report.rejected)}, ` +
      `errors ${JSON.stringify(report.errors)}, refused ${report.refusedByServer}, dropped events ${report.droppedEvents}`,
  );
  console.log(
    `event loop p99 ${figure(lag.median, 1)} ms (worst ${figure(lag.worst, 1)}, idle ${figure(lag.idle, 1)}; 10 ms of it is the measuring step)`,
  );
  console.log(
    `memory ${figure(memoryMiB.before, 0)} → ${figure(memoryMiB.peak, 0)} MiB, ${figure(memoryMiB.perSession, 2)} MiB a session; ` +
      `processors busy ${figure(report.processorsBusy, 2)}; silent sessions held ${report.silentSessionsHeld}`,
  );
  console.log(
    `drift, last quarter − first: ${figure(drift.residentMiB, 1)} MiB resident, ${figure(drift.heapMiB, 1)} MiB heap, ${figure(drift.handles, 1)} handles, ${figure(drift.openFiles, 1)} files`,
  );
}

/** Runs of different shapes stay beside each other; one of the same shape is replaced. */
async function keep(report: Report): Promise<void> {
  const path = join(packageRoot(), 'bench', 'results', 'load.json');
  const known = await readFile(path, 'utf8').then(
    (text) => (JSON.parse(text) as { runs: Report[] }).runs,
    () => [],
  );
  await keepResult('load.json', { runs: [...known.filter(({ label }) => label !== report.label), report] });
}
