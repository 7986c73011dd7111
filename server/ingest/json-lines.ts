import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { z } from 'zod';
import { problemError } from './input-files.js';
import type { Problem } from './input-files.js';

/** Longest line, characters: far above the longest article, far below what would exhaust memory. */
const LONGEST_LINE = 8_000_000;

export interface ReadOptions {
  /** Told of bad input, which is then skipped; without it bad input throws `ingest_failed` naming file and line. */
  readonly onBad?: (problem: Problem) => void;
}

/** Reports bad input, or throws it. */
export function reject(problem: Problem, options: ReadOptions, cause?: unknown): void {
  if (!options.onBad) throw problemError(problem, cause);
  options.onBad(problem);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Lines of a JSON Lines file that fit the schema, with their numbers from 1; blank lines and a byte order mark are ignored. */
export async function* readJsonLines<T>(
  path: string,
  schema: z.ZodType<T>,
  options: ReadOptions,
): AsyncGenerator<{ readonly line: number; readonly value: T }> {
  const lines = createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Infinity });
  let line = 0;
  for await (const raw of lines) {
    line += 1;
    const text = raw.replace(/^\uFEFF/, '').trim();
    if (text === '') continue;
    if (text.length > LONGEST_LINE) {
      reject({ path, line, reason: `The line is longer than ${LONGEST_LINE} characters.` }, options);
      continue;
    }
    const value = parse(text);
    if (value === undefined) {
      reject({ path, line, reason: 'The line is no JSON.' }, options);
      continue;
    }
    const checked = schema.safeParse(value);
    if (checked.success) yield { line, value: checked.data };
    else {
      const issue = checked.error.issues[0];
      reject(
        { path, line, reason: `Field "${issue?.path.join('.') ?? ''}": ${issue?.message ?? 'bad'}.` },
        options,
      );
    }
  }
}
