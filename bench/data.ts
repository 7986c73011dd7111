import { createReadStream, existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { packageRoot } from '../server/config.js';

/** Where the public data sets lie unless `--data` says otherwise: beside the repository. */
export const defaultData = (): string => resolve(packageRoot(), '../shared/data');

/** What benches compute once and keep: embeddings, spoken questions, indexes. Not under version control; delete it freely. */
export const defaultCache = (): string => join(packageRoot(), 'data', 'bench-cache');

export async function readRows<T>(path: string): Promise<T[]> {
  const rows: T[] = [];
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity }))
    if (line.trim() !== '') rows.push(JSON.parse(line) as T);
  return rows;
}

/** Whether a data set is there; says so aloud when it is not. */
export function isThere(path: string, what: string): boolean {
  if (existsSync(path)) return true;
  console.log(`NOT MEASURED: ${what} (${path} is not there).`);
  return false;
}

/** Writes a result under bench/results, whole or not at all. */
export async function keepResult(name: string, content: string | object): Promise<void> {
  const path = join(packageRoot(), 'bench', 'results', name);
  await mkdir(dirname(path), { recursive: true });
  const text = typeof content === 'string' ? content : `${JSON.stringify(content, null, 1)}\n`;
  await writeFile(`${path}.part`, text);
  await rename(`${path}.part`, path);
  console.log(`Written: bench/results/${name}`);
}

/** Lower case letters and digits, single spaces, no accents: texts that sound alike compare equal. */
export function plain(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\p{M}'’]/gu, '')
    .replace(/[^a-z0-9]+/g, ' ')
    .trim();
}

/** Names separated by commas, each one of the known; throws a RangeError that lists them. */
export function chosen<T extends string>(
  value: string | undefined,
  known: readonly T[],
  option: string,
): T[] {
  if (value === undefined) return [...known];
  return value.split(',').map((name) => {
    const found = known.find((candidate) => candidate === name.trim());
    if (found === undefined) throw new RangeError(`${option}: "${name}" is none of ${known.join(', ')}.`);
    return found;
  });
}
