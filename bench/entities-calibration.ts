import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Calibration, Coefficients } from '../server/ground/calibration.js';
import {
  chooseAccepted,
  featuresOf,
  findSuspects,
  judgeSuspect,
  MAX_CANDIDATES,
  type Features,
  type SemanticSimilarity,
  type Suspect,
} from '../server/ground/entities.js';
import type { TermKind } from '../server/ground/term-list.js';
import type { TermIndex } from '../server/ground/term-index.js';
import { areWordForms, splitWords } from '../server/ground/words.js';
import { createRandom, misspellByEar, mistype, pick, sample } from './misspell.js';

/** What a labelled example stands for; the last four must never be corrected. */
export type ExampleClass =
  'mistyped' | 'by ear' | 'misheard' | 'look-alike' | 'unlisted term' | 'ordinary' | 'name';

export interface Example {
  readonly kind: ExampleClass;
  /** Readings of the text: one, or several where words may belong together. */
  readonly suspects: readonly Suspect[];
  /** What was meant; null when nothing may be proposed. */
  readonly target: string | null;
  readonly heldOut: boolean;
}

export interface ExampleOptions {
  readonly index: TermIndex;
  readonly seed: number;
  readonly perClass: number;
  /** Folder of the shipped lists, where the mishearings are. */
  readonly folder: string;
  /** Question texts whose unknown words are names and rarities; empty without them. */
  readonly texts: readonly string[];
}

/**
 * Labelled examples from the lists. Words are drawn once and go whole into one half, so that the held-out half has only words
 * never fitted on. A negative is looked up as though it stood on no list (the index never answers with the word itself): the
 * danger is the name that the lists lack.
 */
export async function makeExamples({
  index,
  seed,
  perClass,
  folder,
  texts,
}: ExampleOptions): Promise<Example[]> {
  const random = createRandom(seed);
  const names = [
    ...termWords(index, ['disease', 'drug']),
    ...sample(termWords(index, ['heading']), 1_500, random),
  ];
  const drugs = new Set(index.list.confusable.pairs.flat());
  const positives = [...sample(names, perClass - 150, random), ...sample([...drugs], 150, random)].filter(
    isWord,
  );
  const examples: Example[] = [];
  const add = (kind: ExampleClass, key: string, target: string | null): void => {
    if (target !== null && (key === target || index.isReal(key))) return;
    examples.push({ kind, target, suspects: [suspectOf(key, index)], heldOut: random() < 0.5 });
  };
  for (const word of positives) {
    const once = mistype(word, random);
    add('mistyped', word.length >= 9 && random() < 0.4 ? mistype(once, random) : once, word);
  }
  for (const word of positives) add('by ear', misspellByEar(word, random), word);
  for (const [a, b] of index.list.confusable.pairs)
    if (isWord(a) && isWord(b)) add('look-alike', pick([a, b], random), null);
  for (const word of sample(names, perClass / 2, random)) add('unlisted term', word, null);
  const english = Array.from(index.list.commonWords).filter(([word, size]) => size >= 50 && word.length >= 5);
  for (const [word] of sample(english, perClass, random)) add('ordinary', word, null);
  for (const word of sample(unknownWords(texts, index), perClass, random)) add('name', word, null);
  examples.push(...(await misheardExamples(folder, index, random)));
  return examples;
}

function isWord(word: string): boolean {
  return /^[a-z]{5,}$/.test(word);
}

/** Words of names of some kinds that are no everyday words; of a long name only the rarer ones. */
function termWords(index: TermIndex, kinds: readonly TermKind[]): string[] {
  const terms = index.list.terms.filter((term) => kinds.includes(term.kind));
  const words = terms.flatMap((term) => splitWords(term.name).map((word) => word.key)).filter(isWord);
  return [...new Set(words)].filter((word) => (index.list.commonWords.get(word) ?? 99) > 20);
}

function suspectOf(key: string, index: TermIndex): Suspect {
  return { first: 0, last: 0, text: key, key, candidates: index.candidates(key, MAX_CANDIDATES) };
}

function unknownWords(texts: readonly string[], index: TermIndex): string[] {
  const found = new Map<string, number>();
  for (const text of texts) {
    for (const { key } of splitWords(text)) {
      if (isWord(key) && !index.isReal(key)) found.set(key, (found.get(key) ?? 0) + 1);
    }
  }
  // Once may be a slip of the writer's own; three times is a name.
  return Array.from(found).flatMap(([word, count]) => (count >= 3 ? [word] : []));
}

async function misheardExamples(folder: string, index: TermIndex, random: () => number): Promise<Example[]> {
  const lines = (await readFile(join(folder, 'misheard.tsv'), 'utf8')).split('\n').slice(1);
  return lines.flatMap((line) => {
    const [term, heard] = line.split('\t');
    if (!term || !heard || heard === term) return [];
    const text = `what is ${heard}`;
    const suspects = findSuspects(text, splitWords(text), index);
    return [{ kind: 'misheard' as const, target: term, suspects, heldOut: random() < 0.5 }];
  });
}

const NAMES = ['edit', 'phonetic', 'semantic', 'uses', 'length', 'first'] as const satisfies ReadonlyArray<
  keyof Features
>;

/** Logistic regression on all (word, candidate) pairs by Newton's method; every example weighs the same. */
export function fitCoefficients(
  examples: readonly Example[],
  semantic: SemanticSimilarity,
  index: TermIndex,
): Coefficients {
  const rows: Array<{ x: number[]; y: number; weight: number }> = [];
  for (const example of examples) {
    const pairs = example.suspects.flatMap((suspect) =>
      suspect.candidates.map((candidate) => ({ suspect, candidate })),
    );
    for (const { suspect, candidate } of pairs) {
      // Another spelling or form of a word that stands on no list harms nobody and teaches nothing.
      if (example.target === null && areWordForms(suspect.key, candidate.word)) continue;
      const features = featuresOf(suspect.key, candidate, semantic(suspect.key, candidate.word));
      const y = example.target !== null && isSame(candidate.word, example.target, index) ? 1 : 0;
      rows.push({ x: [1, ...NAMES.map((name) => features[name])], y, weight: 1 / pairs.length });
    }
  }
  const [bias, edit, phonetic, meaning, uses, length, first] = newton(rows).map((value) =>
    Number(value.toFixed(4)),
  );
  return {
    bias: bias as number,
    edit: edit as number,
    phonetic: phonetic as number,
    semantic: meaning as number,
    uses: uses as number,
    length: length as number,
    first: first as number,
  };
}

export function isSame(word: string, target: string, index: TermIndex): boolean {
  return word === target || areWordForms(word, target) || index.list.sameDrug.has(word, target);
}

/** A weak pull to zero keeps a feature that never varies (no semantic table) at exactly 0. */
const RIDGE = 0.01;

function newton(rows: ReadonlyArray<{ x: number[]; y: number; weight: number }>): number[] {
  const size = rows[0]?.x.length ?? 0;
  let weights = new Array<number>(size).fill(0);
  for (let step = 0; step < 30; step += 1) {
    const gradient = weights.map((value) => -RIDGE * value);
    const hessian = weights.map((_, i) => weights.map((__, j) => (i === j ? RIDGE : 0)));
    for (const { x, y, weight } of rows) {
      const p = 1 / (1 + Math.exp(-x.reduce((sum, value, i) => sum + value * (weights[i] as number), 0)));
      for (let i = 0; i < size; i += 1) {
        gradient[i] = (gradient[i] as number) + weight * (y - p) * (x[i] as number);
        for (let j = 0; j < size; j += 1) {
          const row = hessian[i] as number[];
          row[j] = (row[j] as number) + weight * p * (1 - p) * (x[i] as number) * (x[j] as number);
        }
      }
    }
    const delta = solve(hessian, gradient);
    weights = weights.map((value, i) => value + (delta[i] as number));
  }
  return weights;
}

/** Gaussian elimination with pivoting. */
function solve(matrix: number[][], right: number[]): number[] {
  const size = right.length;
  const rows = matrix.map((row, i) => [...row, right[i] as number]);
  for (let column = 0; column < size; column += 1) {
    const pivot = rows
      .slice(column)
      .reduce((best, row) =>
        Math.abs(row[column] as number) > Math.abs(best[column] as number) ? row : best,
      );
    rows.splice(rows.indexOf(pivot), 1);
    rows.splice(column, 0, pivot);
    for (const row of rows) {
      if (row === pivot) continue;
      const factor = (row[column] as number) / (pivot[column] as number);
      for (let j = column; j <= size; j += 1) row[j] = (row[j] as number) - factor * (pivot[j] as number);
    }
  }
  return rows.map((row, i) => (row[size] as number) / (row[i] as number));
}

export interface Outcome {
  readonly kind: ExampleClass;
  readonly total: number;
  /** Corrected to what was meant. */
  readonly right: number;
  /** Corrected to something else, or corrected where nothing was to be. */
  readonly wrong: number;
}

/** What the whole decision does with each class. */
export function evaluate(
  examples: readonly Example[],
  options: { index: TermIndex; calibration: Calibration; semantic: SemanticSimilarity },
): Outcome[] {
  const outcomes = new Map<ExampleClass, { total: number; right: number; wrong: number }>();
  for (const { kind, suspects, target } of examples) {
    const outcome = outcomes.get(kind) ?? { total: 0, right: 0, wrong: 0 };
    outcomes.set(kind, outcome);
    outcome.total += 1;
    const chosen = chooseAccepted(suspects.map((suspect) => judgeSuspect(suspect, options)));
    const words = chosen.map((each) => each.accepted?.word ?? '');
    if (words.length === 0) continue;
    const meant = target ?? suspects[0]?.key ?? '';
    if (!words.some((word) => isSame(word, meant, options.index))) outcome.wrong += 1;
    else if (target !== null) outcome.right += 1;
  }
  return Array.from(outcomes, ([kind, outcome]) => ({ kind, ...outcome }));
}

export function precisionOf(outcomes: readonly Outcome[]): number {
  const right = outcomes.reduce((sum, each) => sum + each.right, 0);
  const wrong = outcomes.reduce((sum, each) => sum + each.wrong, 0);
  return right + wrong === 0 ? 1 : right / (right + wrong);
}

/** Of the misspelt, how many are put right; mishearings of a whole name by a recogniser are reported apart. */
export function recallOf(outcomes: readonly Outcome[]): number {
  const asked = outcomes.filter((each) => each.kind === 'mistyped' || each.kind === 'by ear');
  const total = asked.reduce((sum, each) => sum + each.total, 0);
  return total === 0 ? 0 : asked.reduce((sum, each) => sum + each.right, 0) / total;
}
