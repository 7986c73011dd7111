import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StoreName } from '../../shared/evidence.js';
import {
  fuseLists,
  fuseRanks,
  mergeByDocument,
  normaliseLists,
  poolWindows,
} from '../../server/retrieve/fuse.js';
import type { Candidate, CandidateList } from '../../server/retrieve/fuse.js';

function candidate(id: string, value: number, more: Partial<Candidate> = {}): Candidate {
  return { id, documentId: `doc of ${id}`, value, raw: value, window: null, ...more };
}

function list(store: StoreName, candidates: Candidate[], more: Partial<CandidateList> = {}): CandidateList {
  return { query: 0, store, source: 'speech', weight: 1, candidates, ...more };
}

/** `count` candidates with evenly falling scores. */
function ramp(prefix: string, count: number, from: number, to: number): Candidate[] {
  return Array.from({ length: count }, (_, index) =>
    candidate(`${prefix}${index}`, from + ((to - from) * index) / (count - 1)),
  );
}

const methods = ['zscore', 'rrf', 'raw'] as const;

describe('two stores whose scores have different scales', () => {
  // Sound against sound is always near; sound against text is far, even where it is the right answer.
  const spoken = list('speech', ramp('a', 50, 0.92, 0.7));
  const texts = list('passages', [candidate('right', 0.48), ...ramp('d', 49, 0.3, 0.15)]);

  it('let one store swallow the whole list when they are merged raw', () => {
    const top = fuseLists([spoken, texts], 'raw').slice(0, 8);
    expect(top.every((hit) => hit.store === 'speech')).toBe(true);
  });

  it('are both heard after z-normalisation, and the one that stands out is first', () => {
    const top = fuseLists([spoken, texts], 'zscore').slice(0, 8);
    expect(top[0]?.id).toBe('right');
    expect(new Set(top.map((hit) => hit.store))).toEqual(new Set(['speech', 'passages']));
  });

  it('alternate in rank fusion, whatever stands out', () => {
    const top = fuseLists([spoken, texts], 'rrf').slice(0, 8);
    expect(top.filter((hit) => hit.store === 'speech')).toHaveLength(4);
  });

  it('give the same z-normalised list however one of them is scaled and shifted', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.01, max: 100, noNaN: true }),
        fc.double({ min: -10, max: 10, noNaN: true }),
        (factor, shift) => {
          const scaled = texts.candidates.map((one) => ({ ...one, value: one.value * factor + shift }));
          const ids = (lists: CandidateList[]) => fuseLists(lists, 'zscore').map((hit) => hit.id);
          expect(ids([spoken, list('passages', scaled)])).toEqual(ids([spoken, texts]));
        },
      ),
    );
  });
});

describe('normalising a list', () => {
  it('gives standard scores of the population', () => {
    const scores = ramp('x', 9, 8, 0);
    const [normalised = []] = normaliseLists([list('speech', scores)]);
    const deviation = Math.sqrt(60 / 9);
    normalised.forEach((one, index) => expect(one.normalised).toBeCloseTo((4 - index) / deviation, 10));
    expect(normalised.map((one) => one.rank)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('gives zeros for one candidate, for equal ones, and nothing for none', () => {
    expect(normaliseLists([list('speech', [candidate('one', 0.9)])])[0]?.[0]?.normalised).toBe(0);
    const equal = Array.from({ length: 20 }, (_, index) => candidate(`e${index}`, 0.3));
    expect(normaliseLists([list('speech', equal)])[0]?.every((one) => one.normalised === 0)).toBe(true);
    expect(normaliseLists([list('speech', [])])).toEqual([[]]);
  });

  it('does not blow up the noise between two candidates of a tiny store', () => {
    const tiny = list('speech', [candidate('a', 0.301), candidate('b', 0.299)]);
    const [scores = []] = normaliseLists([tiny, list('passages', ramp('d', 50, 0.6, 0.1))]);
    expect(Math.abs(scores[0]?.normalised ?? 9)).toBeLessThan(0.02);
  });

  it('never gives NaN or an infinite score', () => {
    const value = fc.double({ min: -1, max: 1, noNaN: true });
    const candidates = fc
      .array(value, { maxLength: 12 })
      .map((values) => values.map((v, i) => candidate(`${i}`, v)));
    fc.assert(
      fc.property(candidates, candidates, fc.constantFrom(...methods), (one, two, method) => {
        const renamed = two.map((c) => ({ ...c, id: `d${c.id}`, documentId: `d${c.id}` }));
        const hits = fuseLists([list('speech', one), list('passages', renamed)], method);
        expect(hits).toHaveLength(one.length + two.length);
        for (const hit of hits)
          expect(Number.isFinite(hit.score) && Number.isFinite(hit.normalised)).toBe(true);
        for (const [index, hit] of hits.entries()) {
          expect(hit.score).toBeLessThanOrEqual(hits[index - 1]?.score ?? Infinity);
        }
      }),
    );
  });
});

describe('fusing', () => {
  it.each(methods)('leaves the order of the other store alone when one is empty (%s)', (method) => {
    const texts = list('passages', ramp('d', 10, 0.9, 0.1));
    const hits = fuseLists([list('speech', []), texts], method);
    expect(hits.map((hit) => hit.id)).toEqual(texts.candidates.map((one) => one.id));
  });

  it.each(methods)('gives nothing for no lists and for empty ones (%s)', (method) => {
    expect(fuseLists([], method)).toEqual([]);
    expect(fuseLists([list('speech', []), list('passages', [])], method)).toEqual([]);
  });

  it.each(methods)('does not depend on the order of lists or candidates (%s)', (method) => {
    const one = list('speech', [candidate('a', 0.5), candidate('b', 0.5), candidate('c', 0.4)]);
    const two = list('passages', [candidate('x', 0.5), candidate('y', 0.5), candidate('z', 0.4)]);
    const ids = (lists: CandidateList[]) => fuseLists(lists, method).map((hit) => hit.id);
    const turned = [two, one].map((l) => ({ ...l, candidates: [...l.candidates].reverse() }));
    expect(ids(turned)).toEqual(ids([one, two]));
  });

  it('breaks ties by id', () => {
    const hits = fuseLists([list('passages', [candidate('b', 0.5), candidate('a', 0.5)])], 'zscore');
    expect(hits.map((hit) => hit.id)).toEqual(['a', 'b']);
  });

  it.each(methods)('weighs queries: the heavier one decides a disagreement (%s)', (method) => {
    const bySound = ramp('d', 10, 0.9, 0.1);
    const byWords = bySound.map((one, index) => candidate(one.id, 0.1 + index * 0.08));
    const ask = (soundWeight: number, wordWeight: number) =>
      fuseLists(
        [
          list('passages', bySound, { weight: soundWeight }),
          list('passages', byWords, { query: 1, source: 'asr', weight: wordWeight }),
        ],
        method,
      )[0];
    expect(ask(3, 1)).toMatchObject({ id: 'd0', source: 'speech' });
    expect(ask(1, 3)).toMatchObject({ id: 'd9', source: 'asr' });
  });

  it.each(methods)('puts what two queries agree on before what only one found (%s)', (method) => {
    const one = list('passages', [
      candidate('both', 0.8),
      candidate('first', 0.8),
      ...ramp('x', 10, 0.3, 0.1),
    ]);
    const two = list(
      'passages',
      [candidate('both', 0.8), candidate('second', 0.8), ...ramp('y', 10, 0.3, 0.1)],
      {
        query: 1,
        source: 'asr',
      },
    );
    const hits = fuseLists([one, two], method);
    expect(hits[0]?.id).toBe('both');
    expect(hits.filter((hit) => hit.id === 'both')).toHaveLength(1);
  });

  it('keeps where a hit came from: the query and window that found it best', () => {
    const sound = list('passages', [candidate('p', 0.9, { window: 2 }), ...ramp('x', 9, 0.3, 0.1)]);
    const words = list('passages', [candidate('q', 0.9), candidate('p', 0.2), ...ramp('y', 9, 0.3, 0.1)], {
      query: 1,
      source: 'user_text',
    });
    const hit = fuseLists([sound, words], 'zscore').find(({ id }) => id === 'p');
    expect(hit).toMatchObject({ source: 'speech', window: 2, raw: 0.9, store: 'passages' });
    expect(hit?.normalised).toBeGreaterThan(2);
  });
});

describe('pooling windows', () => {
  it('takes the best window of each passage and then the best passages', () => {
    const pooled = poolWindows(
      [
        candidate('a', 0.2, { window: 0 }),
        candidate('b', 0.5, { window: 0 }),
        candidate('a', 0.9, { window: 1 }),
        candidate('b', 0.5, { window: 1 }),
        candidate('c', 0.1, { window: 1 }),
      ],
      2,
    );
    expect(pooled.map(({ id, value, window }) => [id, value, window])).toEqual([
      ['a', 0.9, 1],
      ['b', 0.5, 0],
    ]);
  });
});

describe('merging by document', () => {
  it('keeps the best passage of each document, in order', () => {
    const passages = [
      candidate('d1#0', 0.9, { documentId: 'd1' }),
      candidate('d2#0', 0.8, { documentId: 'd2' }),
      candidate('d1#1', 0.7, { documentId: 'd1' }),
    ];
    const merged = mergeByDocument(fuseLists([list('passages', passages)], 'zscore'));
    expect(merged.map((hit) => hit.id)).toEqual(['d1#0', 'd2#0']);
  });
});

describe('rank fusion of id lists', () => {
  it('sums 1 / (60 + rank)', () => {
    const fused = fuseRanks([
      ['a', 'b'],
      ['b', 'c'],
    ]);
    expect(fused.map(({ id }) => id)).toEqual(['b', 'a', 'c']);
    expect(fused[0]?.score).toBeCloseTo(1 / 62 + 1 / 61, 12);
  });
});
