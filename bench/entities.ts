import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CALIBRATION, type Calibration, type Coefficients } from '../server/ground/calibration.js';
import { editSimilarity } from '../server/ground/edit-distance.js';
import { phoneticCodes, phoneticSimilarity } from '../server/ground/phonetic.js';
import { judgeSuspect, MAX_CANDIDATES, type SemanticSimilarity } from '../server/ground/entities.js';
import { createSemanticTable } from '../server/ground/semantic-table.js';
import { createTermIndex, type TermIndex } from '../server/ground/term-index.js';
import {
  createTermList,
  loadTermList,
  shippedTermsFolder,
  type TermList,
} from '../server/ground/term-list.js';
import {
  evaluate,
  fitCoefficients,
  makeExamples,
  precisionOf,
  recallOf,
  type Example,
  type Outcome,
} from './entities-calibration.js';
import { loadTextEncoder } from './load-text-encoder.js';
import { createRandom, mistype, sample } from './misspell.js';

/**
 * Measures entity correction: precision and recall on held-out words, and the time of a query against 1,000 to 100,000 terms
 * beside a scan of all of them. `--calibrate` fits the model anew, `--write` keeps it in server/ground/calibration.ts.
 */
const SEED = 20_261;
const PER_CLASS = 900;
/**
 * Share of corrections that must be right, over as many words that must be left alone as words to be corrected. The best of many
 * thresholds is lucky on the words that it was chosen on: the lower end of the share's interval must reach this, not the share.
 */
const WANTED_PRECISION = 0.95;
/** Standard errors to that lower end: one-sided 95 %. */
const DEVIATIONS = 1.645;
const MARGINS = [0.5, 1, 1.5, 2, 3];
const none: SemanticSimilarity = () => null;

export interface EntitiesBenchOptions {
  readonly calibrate: boolean;
  readonly write: boolean;
  /** Folder of shared data; its question texts give names that no list has. */
  readonly data: string;
}

export async function runEntitiesBench(options: EntitiesBenchOptions): Promise<void> {
  const folder = shippedTermsFolder();
  const list = await loadTermList(folder);
  const index = createTermIndex(list);
  const texts = await readTexts(join(options.data, 'train', 'texts.jsonl'));
  const examples = await makeExamples({ index, seed: SEED, perClass: PER_CLASS, folder, texts });
  const table = await semanticOf(examples);
  const semantic = table?.similarity ?? none;
  const calibration = options.calibrate
    ? calibrate(examples, index, semantic, table?.modelId ?? null)
    : CALIBRATION;
  const heldOut = examples.filter((example) => example.heldOut);
  for (const [name, similarity] of [
    ['without text encoder', none],
    ['with text encoder', semantic],
  ] as const) {
    if (name === 'with text encoder' && !table) console.log('\nwith text encoder: not measured, no weights');
    else report(name, evaluate(heldOut, { index, calibration, semantic: similarity }), calibration);
  }
  if (options.write) await keep(calibration);
  benchSpeed(list, calibration);
}

async function readTexts(path: string): Promise<string[]> {
  if (!existsSync(path)) {
    console.log(`No ${path}: names of no list are not measured.`);
    return [];
  }
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
  return lines.map((line) => (JSON.parse(line) as { text: string }).text);
}

/** Similarities of every pair of the examples, embedded before anything is judged; null without an encoder. */
async function semanticOf(
  examples: readonly Example[],
): Promise<{ similarity: SemanticSimilarity; modelId: string } | null> {
  const encoder = await loadTextEncoder();
  if (!encoder) return null;
  const names = examples.flatMap(({ suspects }) =>
    suspects.flatMap((suspect) => [suspect.key, ...suspect.candidates.map((candidate) => candidate.word)]),
  );
  const table = createSemanticTable(encoder, { capacity: 100_000 });
  const distinct = [...new Set(names)];
  for (let at = 0; at < distinct.length; at += 32) await table.prepare(distinct.slice(at, at + 32));
  await encoder.close();
  return { similarity: (a, b) => table.similarity(a, b), modelId: encoder.modelId };
}

function calibrate(
  examples: readonly Example[],
  index: TermIndex,
  semantic: SemanticSimilarity,
  textEncoder: string | null,
): Calibration {
  const fitted = examples.filter((example) => !example.heldOut);
  const withoutSemantic: Coefficients = { ...fitCoefficients(fitted, none, index), semantic: 0 };
  const withSemantic = textEncoder === null ? withoutSemantic : fitCoefficients(fitted, semantic, index);
  const base: Calibration = {
    withSemantic,
    withoutSemantic,
    threshold: { withSemantic: 0.5, withoutSemantic: 0.5 },
    margin: { withSemantic: 1, withoutSemantic: 1 },
    provenance: {
      date: new Date().toISOString().slice(0, 10),
      command: 'bench/entities.ts --calibrate --write',
      seed: SEED,
      examples: countClasses(examples),
      textEncoder,
    },
  };
  const plain = chooseThreshold(fitted, index, none, base);
  const full = textEncoder === null ? plain : chooseThreshold(fitted, index, semantic, base);
  return {
    ...base,
    margin: { withSemantic: full.margin, withoutSemantic: plain.margin },
    threshold: { withSemantic: full.threshold, withoutSemantic: plain.threshold },
  };
}

function countClasses(examples: readonly Example[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind } of examples) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** The threshold and margin with the best recall on the fitted half at the wanted precision; the strictest when none reaches it. */
function chooseThreshold(
  examples: readonly Example[],
  index: TermIndex,
  semantic: SemanticSimilarity,
  base: Calibration,
): { threshold: number; margin: number } {
  let best = { threshold: 0.95, margin: Math.max(...MARGINS), recall: -1 };
  for (const margin of MARGINS) {
    for (let percent = 20; percent <= 95; percent += 5) {
      const threshold = percent / 100;
      const calibration = {
        ...base,
        margin: { withSemantic: margin, withoutSemantic: margin },
        threshold: { withSemantic: threshold, withoutSemantic: threshold },
      };
      const outcomes = evaluate(examples, { index, calibration, semantic });
      const recall = recallOf(outcomes);
      if (recall > best.recall && lowerPrecision(outcomes) >= WANTED_PRECISION)
        best = { threshold, margin, recall };
    }
  }
  return best;
}

/** Lower end of the precision's interval. Source: Wilson 1927, the score interval. */
function lowerPrecision(outcomes: readonly Outcome[]): number {
  const count = outcomes.reduce((sum, { right, wrong }) => sum + right + wrong, 0);
  if (count === 0) return 1;
  const share = precisionOf(outcomes);
  const z2 = DEVIATIONS ** 2;
  const spread = DEVIATIONS * Math.sqrt((share * (1 - share)) / count + z2 / (4 * count ** 2));
  return (share + z2 / (2 * count) - spread) / (1 + z2 / count);
}

function report(name: string, outcomes: readonly Outcome[], { threshold, margin }: Calibration): void {
  const model = name.startsWith('without') ? 'withoutSemantic' : 'withSemantic';
  console.log(`\n${name}: threshold ${threshold[model]}, margin ${margin[model]} (held-out words)`);
  console.log('class           n   corrected right   corrected wrong');
  for (const { kind, total, right, wrong } of outcomes) {
    console.log(`${kind.padEnd(14)}${String(total).padStart(4)}${share(right, total)}${share(wrong, total)}`);
  }
  console.log(
    `precision ${precisionOf(outcomes).toFixed(3)} over all classes, recall ${recallOf(outcomes).toFixed(3)} of mistyped and by ear`,
  );
}

function share(count: number, total: number): string {
  return `${String(count).padStart(8)} (${((100 * count) / Math.max(1, total)).toFixed(1).padStart(5)} %)`;
}

async function keep(calibration: Calibration): Promise<void> {
  const path = resolve('server/ground/calibration.ts');
  const source = await readFile(path, 'utf8');
  const head = source.slice(0, source.indexOf('export const CALIBRATION'));
  const literal = JSON.stringify(calibration, null, 2)
    .replace(/"([a-zA-Z]+)":/g, '$1:')
    .replaceAll('"', "'")
    .replace(/(['\d}l])(\n\s*})/g, '$1,$2');
  await writeFile(path, `${head}export const CALIBRATION: Calibration = ${literal};\n`);
}

const SIZES = [1_000, 10_000, 100_000];
const HEADINGS = ['terms', 'build', 'query p50', 'p99', 'max', 'scan p50', 'p99', 'same best'];

/**
 * A query: candidates of one misspelt word and the decision on them, each asked once after 50 others. Milliseconds of the
 * processor over milliseconds of the clock, which on a busy machine also counts who else is running.
 */
function benchSpeed(list: TermList, calibration: Calibration): void {
  console.log('\nmilliseconds of processor / of clock');
  console.log(HEADINGS.map((heading) => heading.padEnd(16)).join(''));
  for (const size of SIZES) {
    const random = createRandom(SEED + size);
    const sized = createTermList({
      terms: enoughTerms(list, size, random),
      commonWords: list.commonWords,
      confusablePairs: list.confusable.pairs,
      sameDrugPairs: list.sameDrug.pairs,
    });
    const built = timed(() => createTermIndex(sized));
    const index = built.result;
    const words = sized.terms
      .map((term) => term.name.toLowerCase())
      .filter((word) => /^[a-z]{6,}$/.test(word));
    const asked = sample(words, 450, random).map((word) => mistype(word, random));
    const scanned = distinctWords(sized);
    for (const word of asked.slice(400)) judge(word, index, calibration);
    const query = asked.slice(0, 400).map((word) => timed(() => judge(word, index, calibration)));
    const scan = asked.slice(0, 20).map((word) => timed(() => scanAll(word, scanned)));
    const agree = scan.filter(({ result }, i) =>
      query[i]?.result.some((near) => near.edit + near.phonetic >= result - 1e-9),
    );
    const cells = [
      String(size),
      both([built], 1, 0),
      ...[0.5, 0.99, 1].map((share) => both(query, share)),
      ...[0.5, 0.99].map((share) => both(scan, share)),
      `${agree.length}/${scan.length}`,
    ];
    console.log(cells.map((cell) => cell.padEnd(16)).join(''));
  }
}

/** A quantile of both times, each taken for itself. */
function both(times: readonly Timed<unknown>[], share: number, digits = 2): string {
  const of = (values: number[]): string => at(values, share).toFixed(digits);
  return `${of(times.map(({ cpuMs }) => cpuMs))} / ${of(times.map(({ wallMs }) => wallMs))}`;
}

/** Real names first; beyond them, names made of their beginnings and ends, as unlike each other as real ones. */
function enoughTerms(list: TermList, size: number, random: () => number): TermList['terms'] {
  const terms = sample(list.terms, size, random);
  const words = list.terms.map((term) => term.name.toLowerCase()).filter((word) => /^[a-z]{7,}$/.test(word));
  const names = new Set<string>();
  while (terms.length + names.size < size) {
    const [a, b] = sample(words, 2, random) as [string, string];
    names.add(a.slice(0, 4 + Math.floor(random() * 3)) + b.slice(-4 - Math.floor(random() * 3)));
  }
  return [
    ...terms,
    ...Array.from(names, (name) => ({ id: `made:${name}`, name, synonyms: [], kind: 'drug' as const })),
  ];
}

function judge(
  word: string,
  index: TermIndex,
  calibration: Calibration,
): ReturnType<TermIndex['candidates']> {
  const candidates = index.candidates(word, MAX_CANDIDATES);
  judgeSuspect(
    { first: 0, last: 0, text: word, key: word, candidates },
    { index, calibration, semantic: none },
  );
  return candidates;
}

function distinctWords(list: TermList): Array<{ word: string; codes: readonly [string, string] }> {
  const words = new Set(list.terms.flatMap((term) => term.name.toLowerCase().match(/\p{L}{3,}/gu) ?? []));
  return Array.from(words, (word) => ({ word, codes: phoneticCodes(word) }));
}

/** Best sum of both similarities over every word: what the index is measured against. */
function scanAll(word: string, words: ReturnType<typeof distinctWords>): number {
  const codes = phoneticCodes(word);
  let best = 0;
  for (const other of words) {
    if (other.word === word) continue;
    best = Math.max(best, editSimilarity(word, other.word) + phoneticSimilarity(codes, other.codes));
  }
  return best;
}

interface Timed<T> {
  readonly result: T;
  /** Of this process, its collector's threads too. */
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** One run: the least of several would hide what a person may meet. */
function timed<T>(work: () => T): Timed<T> {
  const [cpu, started] = [process.cpuUsage(), performance.now()];
  const result = work();
  const wallMs = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  return { result, cpuMs: (user + system) / 1_000, wallMs };
}

function at(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

/** `--data FOLDER`, `--calibrate`, `--write`, `--speed` for the times alone. */
export async function run(args: readonly string[]): Promise<void> {
  const data = args.includes('--data') ? args[args.indexOf('--data') + 1] : undefined;
  if (args.includes('--speed')) {
    benchSpeed(await loadTermList(shippedTermsFolder()), CALIBRATION);
    return;
  }
  await runEntitiesBench({
    calibrate: args.includes('--calibrate'),
    write: args.includes('--write'),
    data: data ?? resolve('../shared/data'),
  });
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await run(process.argv.slice(2));
}
