import { describe, expect, it } from 'vitest';
import type { EvidenceItem } from '../../shared/evidence.js';
import { createBm25KeywordStore } from '../../server/retrieve/bm25-keyword-store.js';
import { createExactStore } from '../../server/retrieve/exact-store.js';
import type { Passage } from '../../server/retrieve/passage-store.js';
import type { Query } from '../../server/retrieve/retriever.js';
import type { VectorRetrieverOptions } from '../../server/retrieve/vector-retriever.js';
import { createVectorRetriever } from '../../server/retrieve/vector-retriever.js';
import { retrieverContract } from '../contracts/retriever.contract.js';
import { createFakePassageStore, fakePassage } from '../fakes/fake-passage-store.js';
import { createFakeRetriever } from '../fakes/fake-retriever.js';
import { createRandom, randomUnit, unit } from '../fixtures/vectors.js';

const settings = { k: 8, fusion: 'zscore', maxRounds: 1 } as const;
const clock = { nowMs: () => 0, wallMs: () => 0, after: () => () => undefined };

interface Item {
  readonly passage: Passage;
  readonly vector: Float32Array;
}

async function retrieverOver(items: readonly Item[], more: Partial<VectorRetrieverOptions> = {}) {
  const [speechVectors, passageVectors] = [
    createExactStore({ dimensions: 4 }),
    createExactStore({ dimensions: 4 }),
  ];
  for (const { passage, vector } of items) {
    const store = passage.store === 'speech' ? speechVectors : passageVectors;
    store.write({ add: [{ key: passage.key, vector }] });
  }
  const vectors = new Map(items.map(({ passage, vector }) => [passage.key, vector]));
  return createVectorRetriever({
    clock,
    passages: createFakePassageStore(items.map(({ passage }) => passage)),
    speechVectors,
    passageVectors,
    keywords: await createBm25KeywordStore(
      items.map(({ passage }) => passage).filter(({ store }) => store === 'passages'),
    ),
    vectorOf: (key) => vectors.get(key) ?? null,
    ...more,
  });
}

/** Cosine `c` with the first axis, the rest spread over the others. */
function at(cosine: number, turn = 0): Float32Array {
  const rest = Math.sqrt(1 - cosine * cosine);
  return unit([cosine, rest * Math.cos(turn), rest * Math.sin(turn), 0]);
}

const ask: Query = { source: 'speech', vectors: [unit([1, 0, 0, 0])] };
const filler = (from: number, store: 'speech' | 'passages', cosine: number): Item[] =>
  Array.from({ length: 20 }, (_, index) => ({
    passage: fakePassage(from + index, `filler ${from + index}`, { store }),
    vector: at(cosine - index * 0.01, index),
  }));

retrieverContract('the vector retriever', async () => ({
  retriever: await retrieverOver(filler(0, 'passages', 0.5)),
  query: ask,
}));
retrieverContract('the fake retriever', async () => ({
  retriever: createFakeRetriever([{ items: [1, 2, 3, 4].map(fakeItem) }]),
  query: ask,
}));

function fakeItem(number: number): EvidenceItem {
  return {
    id: `d${number}#0`,
    rank: number,
    store: 'passages',
    documentId: `d${number}`,
    title: 'title',
    text: 'text',
    score: 1 / number,
    rawScore: 1 / number,
    normalisedScore: 1 / number,
    querySource: 'speech',
    matchedWindow: 0,
    span: { start: 0, end: 4 },
  };
}

describe('a spoken query', () => {
  it('hears both stores although one scores much higher', async () => {
    const right: Item = { passage: fakePassage(500, 'the answer'), vector: at(0.45) };
    const items = [...filler(0, 'speech', 0.9), ...filler(100, 'passages', 0.25), right];
    const { items: found } = await (await retrieverOver(items)).retrieve({ queries: [ask], settings });
    expect(found[0]?.id).toBe('doc500#0');
    expect(new Set(found.map((item) => item.store))).toEqual(new Set(['speech', 'passages']));
    const raw = { ...settings, fusion: 'raw' as const };
    const swallowed = await (await retrieverOver(items)).retrieve({ queries: [ask], settings: raw });
    expect(swallowed.items.every((item) => item.store === 'speech')).toBe(true);
  });

  it('of several windows finds what only one window is near to, and says which', async () => {
    const early: Item = { passage: fakePassage(1, 'said early'), vector: unit([0, 1, 0, 0]) };
    const late: Item = { passage: fakePassage(2, 'said late'), vector: unit([0, 0, 0, 1]) };
    const windows = [unit([0, 1, 0, 0]), unit([0, 0, 1, 0]), unit([0, 0, 0, 1])];
    const retriever = await retrieverOver([...filler(100, 'passages', 0.3), early, late]);
    const { items } = await retriever.retrieve({
      queries: [{ source: 'speech', vectors: windows }],
      settings,
    });
    const windowOf = (id: string) => items.find((item) => item.id === id)?.matchedWindow;
    expect([windowOf('doc1#0'), windowOf('doc2#0')]).toEqual([0, 2]);
  });

  it('finds nothing by words, even when a text is handed in', async () => {
    const worded: Item = { passage: fakePassage(7, 'hyperkalaemia'), vector: at(-0.9) };
    const retriever = await retrieverOver([...filler(100, 'passages', 0.3), worded]);
    const { items, hits } = await retriever.retrieve({
      queries: [{ ...ask, text: 'hyperkalaemia' }],
      settings,
    });
    expect(items.some((item) => item.matchedTerms !== undefined)).toBe(false);
    expect(hits.at(-1)?.id).toBe('doc7#0');
  });

  it('merges several windows of one recorded item and gives its clip with neighbours', async () => {
    const clip = {
      recordingId: 'talk',
      audioPath: '/secret/place/talk.wav',
      startMs: 8000,
      endMs: 16000,
      speaker: 'anna',
      previousId: 'speech:talk#0',
      nextId: 'speech:talk#2',
    };
    const spoken = (key: number) =>
      fakePassage(key, 'what was said', {
        store: 'speech',
        id: 'speech:talk#1',
        documentId: 'speech:talk',
        clip,
      });
    const retriever = await retrieverOver([
      { passage: spoken(1), vector: at(0.4) },
      { passage: spoken(2), vector: at(0.8) },
    ]);
    const { items } = await retriever.retrieve({ queries: [ask], settings });
    expect(items).toHaveLength(1);
    expect(items[0]?.rawScore).toBeCloseTo(0.8, 5);
    expect(items[0]?.clip).toEqual({
      recordingId: 'talk',
      url: '/v1/clips/speech%3Atalk%231',
      startMs: 8000,
      endMs: 16000,
      speaker: 'anna',
      previousId: 'speech:talk#0',
      nextId: 'speech:talk#2',
    });
    expect(JSON.stringify(items)).not.toContain('secret');
  });

  it('leaves out an excluded document and fills up with others', async () => {
    const retriever = await retrieverOver(filler(0, 'passages', 0.5));
    const { items, bestScore } = await retriever.retrieve({
      queries: [ask],
      settings,
      excludeIds: new Set(['doc0', 'doc1#0']),
    });
    expect(items).toHaveLength(8);
    expect(items[0]?.id).toBe('doc2#0');
    expect(bestScore).toBeCloseTo(0.48, 5);
  });
});

describe('a written query', () => {
  const worded: Item = { passage: fakePassage(7, 'Hyperkalaemia after dialysis'), vector: at(0.1) };
  const written: Query = { source: 'user_text', vectors: ask.vectors, text: 'hyperkalaemia dialysis' };

  it('finds by its words what its vector is far from, with the cosine and the words', async () => {
    const items = Array.from({ length: 80 }, (_, index) => ({
      passage: fakePassage(100 + index, `filler ${index}`),
      vector: at(0.9 - index * 0.005, index),
    }));
    const retriever = await retrieverOver([...items, worded]);
    const { items: found, hits } = await retriever.retrieve({
      queries: [written],
      settings: { ...settings, k: 50 },
    });
    const item = found.find(({ id }) => id === 'doc7#0');
    expect(item?.rawScore).toBeCloseTo(0.1, 5);
    expect(item?.matchedTerms).toEqual(['hyperkalaemia', 'dialysis']);
    expect(item?.matchedWindow).toBeNull();
    expect(hits.every((hit) => hit.window === null)).toBe(true);
  });

  it('puts first what words and vector agree on', async () => {
    const both: Item = { passage: fakePassage(8, 'Dialysis lowers hyperkalaemia'), vector: at(0.6) };
    const retriever = await retrieverOver([...filler(100, 'passages', 0.62), worded, both]);
    const { items } = await retriever.retrieve({ queries: [written], settings });
    expect(items[0]?.id).toBe('doc8#0');
  });

  it('is ordered by a reranker where there is one', async () => {
    const texts: string[] = [];
    const retriever = await retrieverOver(filler(0, 'passages', 0.5), {
      reranker: {
        id: 'backwards',
        async score(_, passages) {
          texts.push(...passages);
          return passages.map((text) => Number(text.split(' ')[1]));
        },
      },
    });
    const { items } = await retriever.retrieve({ queries: [written], settings });
    expect(items[0]?.id).toBe('doc19#0');
    expect(texts).toHaveLength(20);
  });

  it('joins the spoken query without replacing it', async () => {
    const heard: Item = { passage: fakePassage(9, 'heard only'), vector: unit([0, 0, 0, 1]) };
    const retriever = await retrieverOver([...filler(100, 'passages', 0.3), worded, heard]);
    const spoken: Query = { source: 'speech', vectors: [unit([0, 0, 0, 1])] };
    const { items } = await retriever.retrieve({
      queries: [spoken, { ...written, source: 'asr' }],
      settings,
    });
    const source = new Map(items.map((item) => [item.id, item.querySource]));
    expect(source.get('doc9#0')).toBe('speech');
    expect(source.get('doc7#0')).toBe('asr');
  });
});

describe('retrieval', () => {
  it('gives nothing and −1 from empty stores', async () => {
    const { items, hits, bestScore } = await (await retrieverOver([])).retrieve({ queries: [ask], settings });
    expect([items, hits, bestScore]).toEqual([[], [], -1]);
  });

  it('refuses vectors of another dimension', async () => {
    const bad: Query = { source: 'speech', vectors: [unit([1, 0])] };
    const retriever = await retrieverOver(filler(0, 'passages', 0.5));
    await expect(retriever.retrieve({ queries: [bad], settings })).rejects.toMatchObject({
      code: 'index_corrupt',
    });
  });

  it('counts the time of sound, words and fusion apart, on the clock it was given', async () => {
    let nowMs = 0;
    const ticking = { ...clock, nowMs: () => (nowMs += 1) };
    const retriever = await retrieverOver(filler(0, 'passages', 0.5), { clock: ticking });
    const { timings } = await retriever.retrieve({
      queries: [ask, { source: 'asr', vectors: ask.vectors, text: 'filler' }],
      settings,
    });
    expect(timings).toEqual({ retrieveSpeechMs: 1, retrieveTextMs: 1, fuseMs: 1 });
  });

  it('is the same in every run', async () => {
    const random = createRandom(5);
    const items = Array.from({ length: 300 }, (_, key) => ({
      passage: fakePassage(key, `words ${key % 7}`, { store: key % 3 === 0 ? 'speech' : 'passages' }),
      vector: randomUnit(random, 4),
    }));
    const request = {
      queries: [ask, { source: 'asr' as const, vectors: ask.vectors, text: 'words 3' }],
      settings,
    };
    const one = await (await retrieverOver(items)).retrieve(request);
    const two = await (await retrieverOver([...items].reverse())).retrieve(request);
    expect(two).toEqual(one);
  });
});
