import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { windowsOf } from '../server/audio/windower.js';
import { createSystemClock } from '../server/clock.js';
import { packageRoot } from '../server/config.js';
import { createOnnxSpeechEncoder } from '../server/encode/onnx-speech-encoder.js';
import { createOnnxTextEncoder } from '../server/encode/onnx-text-encoder.js';
import type { SpeechEncoder } from '../server/encode/speech-encoder.js';
import type { TextEncoder } from '../server/encode/text-encoder.js';
import { openWeights } from '../server/encode/weights.js';
import { createBm25KeywordStore } from '../server/retrieve/bm25-keyword-store.js';
import { createExactStore } from '../server/retrieve/exact-store.js';
import type { Passage, PassageStore } from '../server/retrieve/passage-store.js';
import type { Retriever } from '../server/retrieve/retriever.js';
import { createVectorRetriever } from '../server/retrieve/vector-retriever.js';
import { differenceInterval } from './bootstrap.js';
import { defaultCache, defaultData, keepResult } from './data.js';
import { mean } from './metrics.js';
import { loadSet, type RecallSet } from './recall-sets.js';
import { figure, formatTable, range } from './table.js';

/**
 * Question: with two stores, which fusion keeps the right passage in the list? Store A holds the other spoken questions (the asked
 * one is left out), none of which answers the asked one; store D holds the abstracts. Where sound scores higher against sound
 * than against text, raw scores let store A swallow the list; where the ear lands in the space of the texts they need not, and
 * z-scores pay for giving a store of strangers its share. The table says which it is for the shipped ear.
 */
const METHODS = ['zscore', 'rrf', 'raw'] as const;
const DEPTHS = [1, 5, 8, 10] as const;
const BATCH = 64;

interface Asked {
  readonly id: string;
  readonly cluster: string;
  readonly relevant: ReadonlySet<string>;
  readonly vectors: readonly Float32Array[];
}

/** For one method: per question, the place of the first right passage (0 for none) and the share of store A in the first eight. */
interface Outcome {
  readonly places: readonly number[];
  readonly speechShares: readonly number[];
}

/** `--data`, `--cache`, `--models` folders; `--limit N` questions. Writes bench/results/fusion.json. */
export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      data: { type: 'string', default: defaultData() },
      cache: { type: 'string', default: defaultCache() },
      models: { type: 'string', default: join(packageRoot(), 'models') },
      limit: { type: 'string', default: '250' },
      threads: { type: 'string', default: '2' },
    },
  });
  const set = await loadSet('pubmedqa', {
    data: values.data,
    cache: values.cache,
    limit: Number(values.limit),
  });
  if (!set) return 0;
  const weights = openWeights(values.models);
  await weights.verify();
  const threads = Number(values.threads);
  const ear = await createOnnxSpeechEncoder({ weights, threads });
  const text = await createOnnxTextEncoder({ weights, threads });
  const asked = await hear(set, ear);
  const retriever = await openStores(set, asked, text);
  const outcomes = new Map<string, Outcome>();
  for (const method of METHODS) outcomes.set(method, await askAll(asked, retriever, method));
  await Promise.all([ear.close(), text.close()]);
  await report(set, asked, { outcomes, speechEncoder: ear.modelId, textEncoder: text.modelId });
  return 0;
}

async function hear(set: RecallSet, ear: SpeechEncoder): Promise<Asked[]> {
  const asked: Asked[] = [];
  for (const utterance of set.utterances) {
    const { id, cluster, relevant } = utterance;
    const samples = await utterance.read();
    const windows = windowsOf(samples.length).map((window) =>
      samples.subarray(window.startSample, window.endSample),
    );
    const encoded = await ear.encode(windows);
    asked.push({ id, cluster, relevant, vectors: encoded.map((window) => window.vector) });
    process.stderr.write(`\rhearing ${asked.length} / ${set.utterances.length}`);
  }
  process.stderr.write('\n');
  return asked;
}

async function openStores(set: RecallSet, asked: readonly Asked[], encoder: TextEncoder): Promise<Retriever> {
  const { dimensions } = encoder;
  const [speechVectors, passageVectors] = [
    createExactStore({ dimensions }),
    createExactStore({ dimensions }),
  ];
  const byKey = new Map<number, Passage>();
  const put = (key: number, item: Pick<Passage, 'store' | 'documentId' | 'text'>): void => {
    const { documentId, text } = item;
    byKey.set(key, {
      ...item,
      key,
      // Passages of one document need ids of their own; windows of one question share theirs.
      id: item.store === 'speech' ? documentId : `${documentId}#${key}`,
      title: documentId,
      start: 0,
      end: text.length,
      source: 'bench',
    });
  };
  for (let from = 0; from < set.passages.length; from += BATCH) {
    const part = set.passages.slice(from, from + BATCH);
    const vectors = await encoder.encode(
      part.map(({ text }) => text),
      'passage',
    );
    part.forEach((passage, at) => put(from + at, { store: 'passages', ...passage }));
    passageVectors.write({ add: vectors.map((vector, at) => ({ key: from + at, vector })) });
    process.stderr.write(`\rencoding passages ${from + part.length} / ${set.passages.length}`);
  }
  process.stderr.write('\n');
  let key = set.passages.length;
  for (const { id, vectors } of asked) {
    for (const vector of vectors) {
      put(key, { store: 'speech', documentId: `speech:${id}`, text: '' });
      speechVectors.write({ add: [{ key, vector }] });
      key += 1;
    }
  }
  return createVectorRetriever({
    clock: createSystemClock(),
    passages: inMemory(byKey),
    speechVectors,
    passageVectors,
    keywords: await createBm25KeywordStore([]),
  });
}

function inMemory(byKey: ReadonlyMap<number, Passage>): PassageStore {
  return {
    size: byKey.size,
    byKeys: (store, keys) =>
      keys.flatMap((key) => {
        const passage = byKey.get(key);
        return passage?.store === store ? [passage] : [];
      }),
    byId: (id) => [...byKey.values()].find((passage) => passage.id === id) ?? null,
    close: () => undefined,
  };
}

async function askAll(
  asked: readonly Asked[],
  retriever: Retriever,
  fusion: (typeof METHODS)[number],
): Promise<Outcome> {
  const places: number[] = [];
  const speechShares: number[] = [];
  for (const { id, relevant, vectors } of asked) {
    const { items } = await retriever.retrieve({
      queries: [{ source: 'speech', vectors }],
      settings: { k: 10, fusion, maxRounds: 1 },
      excludeIds: new Set([`speech:${id}`]),
    });
    places.push(items.findIndex((item) => relevant.has(item.documentId)) + 1);
    speechShares.push(mean(items.slice(0, 8).map((item) => (item.store === 'speech' ? 1 : 0))));
  }
  return { places, speechShares };
}

const hitsAt = (places: readonly number[], depth: number): number[] =>
  places.map((place) => (place > 0 && place <= depth ? 1 : 0));

async function report(
  set: RecallSet,
  asked: readonly Asked[],
  measured: {
    readonly outcomes: ReadonlyMap<string, Outcome>;
    readonly speechEncoder: string;
    readonly textEncoder: string;
  },
): Promise<void> {
  const clusters = asked.map(({ cluster }) => cluster);
  const baseline = measured.outcomes.get('zscore')?.places ?? [];
  const rows = [...measured.outcomes].map(([method, { places, speechShares }]) => ({
    method,
    n: asked.length,
    ...Object.fromEntries(DEPTHS.map((depth) => [`hit${depth}`, mean(hitsAt(places, depth))])),
    speechShareOf8: mean(speechShares),
    hit8MinusZscore: differenceInterval(hitsAt(places, 8), hitsAt(baseline, 8), { clusters }),
  }));
  const header = ['fusion', 'n', ...DEPTHS.map((depth) => `hit@${depth}`), 'store A of 8', 'hit@8 − z-score'];
  const lines = [...measured.outcomes].map(([method, { places, speechShares }], at) => [
    method,
    String(asked.length),
    ...DEPTHS.map((depth) => figure(mean(hitsAt(places, depth)))),
    figure(mean(speechShares), 2),
    range(rows[at]?.hit8MinusZscore ?? null),
  ]);
  console.log(
    `${set.name}, ${set.voice}: ${set.passages.length} passages, ${asked.length - 1} other spoken questions`,
  );
  console.log(formatTable(header, lines));
  const { speechEncoder, textEncoder } = measured;
  await keepResult('fusion.json', { set: set.name, voice: set.voice, speechEncoder, textEncoder, rows });
}
