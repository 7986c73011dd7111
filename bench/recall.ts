import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readSpeech } from '../server/audio/audio-file.js';
import { packageRoot } from '../server/config.js';
import { createOnnxSpeechEncoder } from '../server/encode/onnx-speech-encoder.js';
import { createOnnxTextEncoder } from '../server/encode/onnx-text-encoder.js';
import { openWeights } from '../server/encode/weights.js';
import { createWhisperTranscriber } from '../server/encode/whisper-transcriber.js';
import { ratioInterval } from './bootstrap.js';
import { chosen, defaultCache, defaultData, isThere, keepResult } from './data.js';
import { CONDITIONS, degrade, HELD_OUT_NOISES, type Condition } from './degrade.js';
import { mean, median, ndcgAt, recallAt, reciprocalRankAt } from './metrics.js';
import { plotPanels } from './plot.js';
import { openCorpus, type SearchedCorpus } from './recall-corpus.js';
import { loadSet, SET_NAMES, type RecallSet } from './recall-sets.js';
import { askAloud, askInWriting, needsWords, SYSTEMS } from './recall-systems.js';
import type { Answered, Encoders, System } from './recall-systems.js';
import { figure, formatTable, range } from './table.js';

/** One system on one set in one condition. Shares are 0 … 1; `retention` is recall@10 ÷ the written question's, on the same ids. */
export interface RecallRow {
  readonly set: string;
  readonly condition: string;
  readonly system: System;
  readonly n: number;
  readonly recall1: number;
  readonly recall5: number;
  readonly recall10: number;
  readonly mrr10: number;
  readonly ndcg10: number;
  readonly retention: number;
  /** 95 % interval of `retention`: paired bootstrap, 1,000 draws of whole questions. */
  readonly ci95: readonly [number, number];
  /** Median from the end of the utterance to the ranked list. */
  readonly msPerQuery: number;
}

/** Voices that speak over each other in the babble. */
const BABBLE_VOICES = 3;

/**
 * What the ear finds beside the written question, in one run. `--data`, `--cache`, `--models` folders; `--limit N` utterances a set;
 * `--sets`, `--conditions`, `--systems` as lists with commas; `--threads` of each model (default 2).
 */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      data: { type: 'string', default: defaultData() },
      cache: { type: 'string', default: defaultCache() },
      models: { type: 'string', default: join(packageRoot(), 'models') },
      limit: { type: 'string', default: '250' },
      threads: { type: 'string', default: '2' },
      sets: { type: 'string' },
      conditions: { type: 'string' },
      systems: { type: 'string' },
    },
  });
  const systems = chosen(values.systems, SYSTEMS, '--systems');
  const conditions = chosen(values.conditions, CONDITIONS, '--conditions');
  const limit = Number(values.limit);
  if (!Number.isInteger(limit) || limit < 1) throw new RangeError('--limit is a whole number, 1 or more.');
  const encoders = await loadEncoders(values.models, systems, Number(values.threads));
  const noises = await readNoises(values.data, conditions);
  const rows: RecallRow[] = [];
  for (const name of chosen(values.sets, SET_NAMES, '--sets')) {
    const set = await loadSet(name, { data: values.data, cache: values.cache, limit });
    if (!set) continue;
    const corpus = await openCorpus(set.passages, encoders.text, values.cache);
    console.log(`${name}: ${set.utterances.length} utterances, ${set.voice}, ${corpus.size} passages`);
    rows.push(...(await measureSet(set, { corpus, encoders, noises, systems, conditions })));
  }
  console.log(tableOf(rows));
  await keepResult('recall.json', {
    limit,
    speechEncoder: encoders.ear.modelId,
    textEncoder: encoders.text.modelId,
    transcriber: encoders.transcriber?.modelId ?? null,
    threads: Number(values.threads),
    msPerQuery: 'median, milliseconds, whole machine as it was',
    heldOutNoises: HELD_OUT_NOISES,
    notes:
      'Store A is empty in every set, so no question can be found by its own recording or a near copy of it.',
    rows,
  });
  await keepResult('recall.svg', plotOf(rows, conditions));
  await Promise.all([encoders.ear.close(), encoders.text.close(), encoders.transcriber?.close()]);
  return 0;
}

async function loadEncoders(models: string, systems: readonly System[], threads: number): Promise<Encoders> {
  const weights = openWeights(models);
  await weights.verify();
  const hasDecoder = weights.find('words-decoder.onnx') !== null;
  if (systems.some(needsWords) && !hasDecoder)
    console.log('NOT MEASURED: systems with words (no decoder among the weights).');
  return {
    ear: await createOnnxSpeechEncoder({ weights, threads }),
    text: await createOnnxTextEncoder({ weights, threads }),
    transcriber:
      systems.some(needsWords) && hasDecoder ? await createWhisperTranscriber({ weights, threads }) : null,
  };
}

async function readNoises(data: string, conditions: readonly Condition[]): Promise<Float32Array[]> {
  if (!conditions.some((condition) => /^\d/.test(condition))) return [];
  const paths = HELD_OUT_NOISES.map((name) => join(data, 'noise', `${name}.flac`));
  return Promise.all(
    paths.filter((path) => isThere(path, 'a held-out noise')).map((path) => readSpeech(path)),
  );
}

interface Measuring {
  readonly corpus: SearchedCorpus;
  readonly encoders: Encoders;
  readonly noises: readonly Float32Array[];
  readonly systems: readonly System[];
  readonly conditions: readonly Condition[];
}

async function measureSet(set: RecallSet, how: Measuring): Promise<RecallRow[]> {
  const written: Answered[] = [];
  // The first question is asked twice: the first time warms the model up.
  await askInWriting(set.utterances[0]?.text ?? '', how.encoders.text, how.corpus);
  for (const { text } of set.utterances)
    written.push(await askInWriting(text, how.encoders.text, how.corpus));
  const rows = how.systems.includes('text')
    ? [toRow(set, { condition: 'written', system: 'text', answers: written, written })]
    : [];
  for (const condition of how.conditions) {
    const answers = await hearAll(set, condition, how);
    for (const system of how.systems) {
      const own = answers.get(system);
      if (own) rows.push(toRow(set, { condition, system, answers: own, written }));
    }
  }
  return rows;
}

/** Every utterance in one condition: answers of each system, in the order of the set. */
async function hearAll(
  set: RecallSet,
  condition: Condition,
  how: Measuring,
): Promise<Map<System, Answered[]>> {
  const all = new Map<System, Answered[]>();
  for (const [number, utterance] of set.utterances.entries()) {
    const others = condition === 'babble' ? await readOthers(set, number) : [];
    const sound = await degrade(await utterance.read(), condition, { noises: how.noises, others, number });
    if (number === 0) await askAloud(sound, how.systems, how);
    for (const [system, answer] of await askAloud(sound, how.systems, how))
      all.set(system, [...(all.get(system) ?? []), answer]);
    process.stderr.write(`\r${set.name} ${condition} ${number + 1} / ${set.utterances.length} `);
  }
  process.stderr.write('\n');
  return all;
}

/** The utterances that follow in the set, around its end. */
async function readOthers(set: RecallSet, number: number): Promise<Float32Array[]> {
  const count = Math.min(BABBLE_VOICES, set.utterances.length - 1);
  const places = Array.from({ length: count }, (_, at) => (number + 1 + at) % set.utterances.length);
  return Promise.all(places.flatMap((place) => set.utterances[place]?.read() ?? []));
}

function toRow(
  set: RecallSet,
  measured: {
    readonly condition: string;
    readonly system: System;
    readonly answers: readonly Answered[];
    readonly written: readonly Answered[];
  },
): RecallRow {
  const { answers, written } = measured;
  const each = (
    list: readonly Answered[],
    score: (ranking: readonly string[], relevant: ReadonlySet<string>, depth: number) => number,
    depth: number,
  ): number[] =>
    list.map(({ ranking }, at) => score(ranking, set.utterances[at]?.relevant ?? new Set(), depth));
  const recall10 = each(answers, recallAt, 10);
  const base = each(written, recallAt, 10);
  return {
    set: set.name,
    condition: measured.condition,
    system: measured.system,
    n: answers.length,
    recall1: mean(each(answers, recallAt, 1)),
    recall5: mean(each(answers, recallAt, 5)),
    recall10: mean(recall10),
    mrr10: mean(each(answers, reciprocalRankAt, 10)),
    ndcg10: mean(each(answers, ndcgAt, 10)),
    retention: mean(recall10) / mean(base),
    ci95: ratioInterval(recall10, base, { clusters: set.utterances.map(({ cluster }) => cluster) }),
    msPerQuery: median(answers.map(({ ms }) => ms)),
  };
}

function tableOf(rows: readonly RecallRow[]): string {
  return formatTable(
    ['set', 'condition', 'system', 'n', 'r@1', 'r@5', 'r@10', 'mrr@10', 'ndcg@10', 'retention', '95 %', 'ms'],
    rows.map((row) => [
      row.set,
      row.condition,
      row.system,
      String(row.n),
      ...[row.recall1, row.recall5, row.recall10, row.mrr10, row.ndcg10, row.retention].map((v) => figure(v)),
      range(row.ci95),
      figure(row.msPerQuery, 1),
    ]),
  );
}

function plotOf(rows: readonly RecallRow[], conditions: readonly Condition[]): string {
  const panels = [...new Set(rows.map(({ set }) => set))].map((set) => {
    const own = rows.filter((row) => row.set === set && row.system !== 'text');
    const series = [...new Set(own.map(({ system }) => system))].map((system) => ({
      name: system,
      values: conditions.map(
        (condition) =>
          own.find((row) => row.system === system && row.condition === condition)?.retention ?? null,
      ),
    }));
    const points = conditions.map((condition) => (/^\d/.test(condition) ? `${condition} dB` : condition));
    return { title: `${set}: recall@10 ÷ the written question’s`, points, series };
  });
  return plotPanels(panels, 'retention', 1.2);
}
