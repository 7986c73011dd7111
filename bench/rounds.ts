import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createSystemClock } from '../server/clock.js';
import { compose, type House } from '../server/compose.js';
import { loadConfig } from '../server/config.js';
import { readDocuments } from '../server/ingest/documents.js';
import {
  embedTexts,
  pendingText,
  writeDocuments,
  type PendingDocument,
} from '../server/ingest/index-writer.js';
import { differenceInterval, type Interval } from './bootstrap.js';
import { defaultCache, defaultData, isThere, keepResult } from './data.js';
import { mean } from './metrics.js';
import { corpusOf, readQuestions, type AskedQuestion } from './rounds-questions.js';
import { runTurn, type Arm, type TurnOutcome } from './rounds-turns.js';
import { figure, formatTable, range } from './table.js';

/** One arm on one file of questions, beside (1 round, entities off) on the same questions. */
export interface RoundsRow {
  readonly questions: string;
  readonly generator: string;
  readonly maxRounds: number;
  readonly entities: boolean;
  readonly n: number;
  /** Null where the file has no labels that can be compared. */
  readonly accuracy: number | null;
  readonly accuracyDifference: number | null;
  readonly ci95: Interval | null;
  readonly invalid: number;
  readonly supported: number;
  readonly abstained: number;
  readonly failed: number;
  readonly generateCalls: number;
  readonly retrieveCalls: number;
  readonly doneMs: number;
  readonly addedMs: number;
  readonly addedMsCi95: Interval;
  readonly stopReasons: Readonly<Record<string, number>>;
}

/** The first is what all others are compared with. */
const ARMS: readonly Arm[] = [
  { maxRounds: 1, entities: false },
  { maxRounds: 2, entities: false },
  { maxRounds: 3, entities: false },
  { maxRounds: 1, entities: true },
  { maxRounds: 2, entities: true },
  { maxRounds: 3, entities: true },
];

/**
 * What rounds 2 and 3 and the entities cost and buy: whole turns on real engines, written questions. `--data FILE` of questions
 * (may be repeated; default PubMedQA), `--generator extractive|llama|openai`, `--limit N` questions a file (default 200),
 * `--corpus FILE` to ask against another corpus, `--cache`, `--models` folders.
 */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      data: { type: 'string', multiple: true, default: [join(defaultData(), 'qa', 'pubmedqa.jsonl')] },
      generator: { type: 'string', default: 'extractive' },
      corpus: { type: 'string' },
      limit: { type: 'string', default: '200' },
      cache: { type: 'string', default: defaultCache() },
      models: { type: 'string' },
    },
  });
  const limit = Number(values.limit);
  if (!Number.isInteger(limit) || limit < 1) throw new RangeError('--limit is a whole number, 1 or more.');
  const rows: RoundsRow[] = [];
  for (const path of values.data) {
    if (!isThere(path, 'these questions')) continue;
    const corpus = values.corpus ?? join(path, '../../retrieval', corpusOf(path), 'corpus.jsonl');
    if (!isThere(corpus, `${path} without its corpus`)) continue;
    const questions = await readQuestions(path, limit);
    const house = await openHouse(corpus, values);
    rows.push(...(await measure(path, questions, house)));
    await house.close();
  }
  console.log(tableOf(rows));
  await keepResult('rounds.json', {
    limit,
    comparedWith: '1 round, entities off',
    intervals: 'paired bootstrap, 95 %, 1,000 draws of whole questions',
    notes:
      'The document that a question was made from stays: it is the evidence. Store A is empty, so no spoken copy of a question can be found. ' +
      'Arms take turns in being first at a question, so that what is kept from an earlier arm favours none.',
    rows,
  });
  return 0;
}

/** Real engines over an index of this corpus alone, made on the first run and kept. */
async function openHouse(
  corpus: string,
  options: { readonly cache: string; readonly generator: string; readonly models?: string | undefined },
): Promise<House> {
  const clock = createSystemClock();
  const name = corpus.split(/[\\/]/).slice(-2).join('-').replace(/\W+/g, '-');
  const config = loadConfig({
    data: join(options.cache, 'rounds', name),
    corpus: 'none',
    logLevel: 'silent',
    generator: options.generator,
    models: options.models,
  });
  const house = await compose(config, clock, () => undefined);
  const documents: PendingDocument[] = [];
  for await (const document of readDocuments([corpus]))
    documents.push(pendingText(document, house.engines.textEncoder.modelId));
  const written = await writeDocuments({
    writer: house.index.writer,
    store: 'passages',
    documents,
    embed: embedTexts(house.engines.textEncoder),
    onProgress: ({ done, total }) =>
      void process.stderr.write(`\rindexing ${done} / ${total}${done < total ? '' : '\n'}`),
  });
  await house.index.reload();
  console.log(`${corpus}: ${written.documents} documents, ${written.unchanged} of them indexed before`);
  if (house.index.stats().speech.documents > 0)
    throw new Error('The index of a bench holds no spoken items.');
  return house;
}

async function measure(
  path: string,
  questions: readonly AskedQuestion[],
  house: House,
): Promise<RoundsRow[]> {
  const outcomes: TurnOutcome[][] = ARMS.map(() => []);
  const [first] = questions;
  // Warms every model up; not counted.
  if (first) await runTurn(house.engines, first, { maxRounds: 2, entities: true });
  for (const [number, question] of questions.entries()) {
    for (let turn = 0; turn < ARMS.length; turn += 1) {
      const at = (number + turn) % ARMS.length;
      const arm = ARMS[at];
      if (arm) outcomes[at]?.push(await runTurn(house.engines, question, arm));
    }
    process.stderr.write(`\rasking ${number + 1} / ${questions.length}`);
  }
  process.stderr.write('\n');
  const clusters = questions.map(({ cluster }) => cluster);
  const file = path.split(/[\\/]/).at(-1) ?? path;
  const base = outcomes[0] ?? [];
  return ARMS.map((arm, at) =>
    toRow(arm, { file, generator: house.engines.generator.id, clusters, base, own: outcomes[at] ?? [] }),
  );
}

function toRow(
  arm: Arm,
  measured: {
    readonly file: string;
    readonly generator: string;
    readonly clusters: readonly string[];
    readonly base: readonly TurnOutcome[];
    readonly own: readonly TurnOutcome[];
  },
): RoundsRow {
  const { own, base } = measured;
  const average = (key: Exclude<keyof TurnOutcome, 'stopReason'>): number =>
    mean(own.map((turn) => turn[key]));
  // Questions without a label stay out of the accuracy, and are counted in everything else.
  const labelled = own.flatMap(({ right }, at) => (Number.isNaN(right) ? [] : [at]));
  const rightOf = (turns: readonly TurnOutcome[]): number[] => labelled.map((at) => turns[at]?.right ?? 0);
  const clusters = labelled.map((at) => measured.clusters[at] ?? '');
  const isLabelled = labelled.length > 0;
  const reasons: Record<string, number> = {};
  for (const { stopReason } of own) reasons[stopReason] = (reasons[stopReason] ?? 0) + 1;
  const times = own.map(({ doneMs }) => doneMs);
  const baseTimes = base.map(({ doneMs }) => doneMs);
  return {
    questions: measured.file,
    generator: measured.generator,
    ...arm,
    n: own.length,
    accuracy: isLabelled ? mean(rightOf(own)) : null,
    accuracyDifference: isLabelled ? mean(rightOf(own)) - mean(rightOf(base)) : null,
    ci95: isLabelled ? differenceInterval(rightOf(own), rightOf(base), { clusters }) : null,
    invalid: average('invalid'),
    supported: average('supported'),
    abstained: average('abstained'),
    failed: average('failed'),
    generateCalls: average('generateCalls'),
    retrieveCalls: average('retrieveCalls'),
    doneMs: average('doneMs'),
    addedMs: mean(times) - mean(baseTimes),
    addedMsCi95: differenceInterval(times, baseTimes, { clusters: measured.clusters }),
    stopReasons: reasons,
  };
}

function tableOf(rows: readonly RoundsRow[]): string {
  return formatTable(
    [
      'questions',
      'rounds',
      'entities',
      'n',
      'accuracy',
      'difference',
      '95 %',
      'invalid',
      'supported',
      'abstained',
      'generate',
      'retrieve',
      'ms',
      '+ms',
    ],
    rows.map((row) => [
      row.questions,
      String(row.maxRounds),
      row.entities ? 'on' : 'off',
      String(row.n),
      figure(row.accuracy),
      figure(row.accuracyDifference),
      range(row.ci95),
      figure(row.invalid),
      figure(row.supported),
      figure(row.abstained),
      figure(row.generateCalls, 2),
      figure(row.retrieveCalls, 2),
      figure(row.doneMs, 0),
      figure(row.addedMs, 0),
    ]),
  );
}
