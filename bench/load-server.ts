import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../server/config.js';

/** A real server in a process of its own, with a data folder that goes when it stops. */
export interface ServerUnderLoad {
  /** Address of the live socket. */
  readonly liveUrl: string;
  /** What the server's own metrics say now. Event-loop delay is that since the last look. */
  look(): Promise<Look>;
  /** Whether the process has ended by itself. */
  ended(): boolean;
  stop(): Promise<void>;
}

export interface Look {
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly cpuSeconds: number;
  readonly handles: number;
  readonly openFiles: number;
  /** 99th percentile of the time between two looks at the event loop, milliseconds; the measuring step itself is 10 ms. */
  readonly loopP99Ms: number;
  readonly refused: number;
  readonly dropped: number;
}

export interface ServerOptions {
  readonly batch: number;
  readonly threads: number;
  readonly models?: string | undefined;
  readonly queryMode: string;
}

/** Far longer than the demo corpus takes to be indexed on a busy machine, milliseconds. */
const START_MS = 300_000;
/** A bench comes from one address; the limits on that are not what is measured. */
const MANY = '100000';

export async function startServerUnderLoad(options: ServerOptions): Promise<ServerUnderLoad> {
  const data = await mkdtemp(join(tmpdir(), 'auscult-load-'));
  const child = spawn(process.execPath, [join(packageRoot(), 'bin', 'auscult.js'), 'serve'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      AUSCULT_HOST: '127.0.0.1',
      AUSCULT_PORT: '0',
      AUSCULT_DATA: data,
      AUSCULT_LOG_LEVEL: 'error',
      AUSCULT_ENCODER_BATCH: String(options.batch),
      AUSCULT_ENCODER_THREADS: String(options.threads),
      AUSCULT_QUERY_MODE: options.queryMode,
      AUSCULT_SESSIONS_PER_ADDRESS: MANY,
      AUSCULT_CONNECTIONS_PER_MINUTE: MANY,
      ...(options.models === undefined ? {} : { AUSCULT_MODELS: options.models }),
    },
  });
  try {
    const url = await addressOf(child);
    return {
      liveUrl: `${url.replace(/^http/, 'ws')}/v1/live`,
      look: async () => readLook(await (await fetch(`${url}/metrics`)).text()),
      ended: () => child.exitCode !== null || child.signalCode !== null,
      async stop() {
        await stop(child);
        await rm(data, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await stop(child);
    await rm(data, { recursive: true, force: true });
    throw error;
  }
}

/** The address that the server prints when it is ready. */
function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = '';
    const timer = setTimeout(() => reject(new Error('The server was not ready in time.')), START_MS);
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      printed += piece;
      const url = /listens on (http:\/\/\S+)/.exec(printed)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url.replace(/\/$/, ''));
    });
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`The server ended with code ${String(code)} before it was ready.`));
    });
  });
}

function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    // A second signal hurries a drain that waits for turns.
    const hurry = setTimeout(() => child.kill('SIGTERM'), 5_000);
    const kill = setTimeout(() => child.kill('SIGKILL'), 15_000);
    child.once('exit', () => {
      clearTimeout(hurry);
      clearTimeout(kill);
      resolve();
    });
    child.kill('SIGTERM');
  });
}

/** Figures from the Prometheus text; series of one name are added up. NaN for a name that is not there. */
export function readLook(text: string): Look {
  const sums = new Map<string, number>();
  for (const line of text.split('\n')) {
    const found = /^([a-z_:][\w:]*)(?:\{.*\})? (\S+)/i.exec(line);
    if (found?.[1]) sums.set(found[1], (sums.get(found[1]) ?? 0) + Number(found[2]));
  }
  const of = (name: string, absent = Number.NaN): number => sums.get(name) ?? absent;
  return {
    residentBytes: of('process_resident_memory_bytes'),
    heapBytes: of('nodejs_heap_size_used_bytes'),
    cpuSeconds: of('process_cpu_seconds_total'),
    handles: of('nodejs_active_handles_total'),
    openFiles: of('process_open_fds'),
    loopP99Ms: of('nodejs_eventloop_lag_p99_seconds') * 1_000,
    refused: of('auscult_refused_total', 0),
    dropped: of('auscult_events_dropped_total', 0),
  };
}
