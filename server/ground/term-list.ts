import { readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AuscultError } from '../errors.js';
import { wordKey } from './words.js';

/** Where a term comes from: a list, the corpus at ingest (`mined`), or a rare word inside a list's longer name (`word`). */
export type TermKind = 'disease' | 'drug' | 'heading' | 'mined' | 'word';
const KINDS: readonly string[] = ['disease', 'drug', 'heading', 'mined', 'word'] satisfies TermKind[];

export interface Term {
  readonly id: string;
  readonly name: string;
  readonly synonyms: readonly string[];
  readonly kind: TermKind;
}

/** Everything that is known about names before a question is asked. */
export interface TermList {
  readonly terms: readonly Term[];
  /** English word → size of the SCOWL list that it first stands in, 10 (most usual) … 60. */
  readonly commonWords: ReadonlyMap<string, number>;
  /** Names that people confuse, both ways; they are contrasted, never corrected into each other. */
  readonly confusable: PairSet;
  /** Names of one substance. */
  readonly sameDrug: PairSet;
}

/** Unordered pairs of names. */
export interface PairSet {
  readonly pairs: ReadonlyArray<readonly [string, string]>;
  has(a: string, b: string): boolean;
}

export function createPairSet(pairs: ReadonlyArray<readonly [string, string]>): PairSet {
  const keys = new Set(pairs.map(([a, b]) => pairKey(a, b)));
  return { pairs, has: (a, b) => keys.has(pairKey(a, b)) };
}

function pairKey(a: string, b: string): string {
  const [x, y] = [wordKey(a), wordKey(b)];
  return x < y ? `${x}\t${y}` : `${y}\t${x}`;
}

export interface TermListParts {
  readonly terms: readonly Term[];
  readonly commonWords?: Iterable<readonly [string, number]>;
  readonly confusablePairs?: ReadonlyArray<readonly [string, string]>;
  readonly sameDrugPairs?: ReadonlyArray<readonly [string, string]>;
}

/** A list from its parts. A confusable pair that is one drug under two names is left out: those may stand for each other. */
export function createTermList(parts: TermListParts): TermList {
  const sameDrug = createPairSet(parts.sameDrugPairs ?? []);
  const confusable = (parts.confusablePairs ?? []).filter(([a, b]) => !sameDrug.has(a, b));
  return {
    terms: parts.terms,
    commonWords: new Map(parts.commonWords ?? []),
    confusable: createPairSet(confusable),
    sameDrug,
  };
}

/**
 * Reads `terms.tsv`, `english-words.txt`, `look-alike-pairs.tsv` and `same-drug.tsv` of a folder (see its README).
 * Throws `file_unreadable` when one is missing or malformed.
 */
export async function loadTermList(folder: string): Promise<TermList> {
  const [terms, words, confusable, sameDrug] = await Promise.all(
    ['terms.tsv', 'english-words.txt', 'look-alike-pairs.tsv', 'same-drug.tsv'].map((name) =>
      readLines(join(folder, name)),
    ),
  );
  return createTermList({
    terms: (terms ?? []).slice(1).map(parseTerm),
    commonWords: parseCommonWords(words ?? []),
    confusablePairs: (confusable ?? []).slice(1).map(parsePair),
    sameDrugPairs: (sameDrug ?? []).slice(1).map(parsePair),
  });
}

/** The list shipped with the program: `models/terms` of the nearest folder above this file that has it. */
export function shippedTermsFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'models', 'terms', 'terms.tsv'))) {
    const parent = dirname(folder);
    if (parent === folder) {
      throw new AuscultError('file_unreadable', {
        message: 'The term lists are missing: put models/terms back, as it is in the repository.',
      });
    }
    folder = parent;
  }
  return join(folder, 'models', 'terms');
}

async function readLines(path: string): Promise<string[]> {
  try {
    return (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
  } catch (cause) {
    throw new AuscultError('file_unreadable', {
      message: `The term list ${path} cannot be read; put it back or name another folder.`,
      cause,
    });
  }
}

/** A line `id, kind, name, synonym|synonym`, parted by tabs. */
export function parseTerm(line: string): Term {
  const [id, kind, name, synonyms] = line.split('\t');
  if (!id || !name || !kind || !KINDS.includes(kind)) {
    throw new AuscultError('file_unreadable', {
      message: `A line of a term list is not "id, kind, name, synonyms" parted by tabs: ${line.slice(0, 80)}`,
    });
  }
  return { id, name, kind: kind as TermKind, synonyms: synonyms ? synonyms.split('|') : [] };
}

/** The inverse of `parseTerm`; tabs, bars and line ends inside names become spaces. */
export function formatTerm(term: Term): string {
  const clean = (name: string): string => name.replace(/[\t\n\r|]+/g, ' ');
  return [term.id, term.kind, term.name, term.synonyms.map(clean).join('|')]
    .map((cell, column) => (column === 3 ? cell : clean(cell)))
    .join('\t');
}

function parsePair(line: string): readonly [string, string] {
  const [a, b] = line.split('\t');
  if (!a || !b) {
    throw new AuscultError('file_unreadable', {
      message: `Not a pair of names parted by a tab: ${line.slice(0, 80)}`,
    });
  }
  return [a, b];
}

/** Words under headings `#size`, as written by the build script. */
function* parseCommonWords(lines: readonly string[]): Generator<readonly [string, number]> {
  let size = 0;
  for (const line of lines) {
    if (line.startsWith('#')) size = Number.parseInt(line.slice(1), 10);
    else yield [line, size];
  }
}
