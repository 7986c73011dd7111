import { appendFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { AuscultError } from '../errors.js';
import type { TraceSink } from './trace-sink.js';
import type { TurnTrace } from './trace.js';

/** One file a day, one line a turn: `DIR/turns-2026-01-31.jsonl`. Writes queue, so lines never interleave. */
export async function createJsonlSink(folder: string): Promise<TraceSink> {
  await mkdir(folder, { recursive: true });
  let queue: Promise<unknown> = Promise.resolve();
  const inOrder = <T>(task: () => Promise<T>): Promise<T> => {
    const result = queue.then(task);
    queue = result.catch(() => undefined);
    return result;
  };

  return {
    write: (record) =>
      inOrder(async () => {
        const day = new Date(record.startedWallMs).toISOString().slice(0, 10);
        await appendFile(join(folder, `turns-${day}.jsonl`), `${JSON.stringify(record)}\n`, { mode: 0o600 });
      }),
    read: (traceId) => inOrder(() => findTrace(folder, traceId)),
    remove: (filter) => inOrder(() => removeTraces(folder, filter)),
    close: async () => {
      await queue;
    },
  };
}

async function traceFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names
    .filter((name) => /^turns-.*\.jsonl$/.test(name))
    .sort()
    .reverse()
    .map((name) => join(folder, name));
}

async function findTrace(folder: string, traceId: string): Promise<TurnTrace | null> {
  for (const file of await traceFiles(folder)) {
    const lines = createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity });
    for await (const line of lines) {
      if (!line.includes(traceId)) continue;
      const record = parseTrace(line, file);
      if (record.traceId === traceId || record.turnId === traceId) return record;
    }
  }
  return null;
}

function parseTrace(line: string, file: string): TurnTrace {
  try {
    return JSON.parse(line) as TurnTrace;
  } catch (cause) {
    throw new AuscultError('file_unreadable', {
      message: `A line of ${file} is not JSON; move the file away to go on.`,
      cause,
    });
  }
}

async function removeTraces(folder: string, filter: Parameters<TraceSink['remove']>[0]): Promise<number> {
  let removed = 0;
  for (const file of await traceFiles(folder)) {
    const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
    const kept = lines.filter((line) => !matches(parseTrace(line, file), filter));
    if (kept.length === lines.length) continue;
    removed += lines.length - kept.length;
    if (kept.length === 0) await rm(file);
    else await replaceFile(file, kept);
  }
  return removed;
}

async function replaceFile(file: string, lines: readonly string[]): Promise<void> {
  await writeFile(`${file}.new`, `${lines.join('\n')}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

function matches(record: TurnTrace, filter: Parameters<TraceSink['remove']>[0]): boolean {
  const bySession = filter.sessionId !== undefined && record.sessionId === filter.sessionId;
  const byAge = filter.olderThanWallMs !== undefined && record.startedWallMs < filter.olderThanWallMs;
  return bySession || byAge;
}
