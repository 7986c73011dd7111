import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mean, median, ndcgAt, quantile, recallAt, reciprocalRankAt } from '../../bench/metrics.js';

const rankings = fc.uniqueArray(fc.constantFrom(...'abcdefghijklmnop'), { maxLength: 14 });
const relevance = fc.uniqueArray(fc.constantFrom(...'abcdefghijklmnop'), { minLength: 1, maxLength: 5 });
const depths = fc.integer({ min: 1, max: 12 });

describe('figures of a ranking', () => {
  it('counts the share of relevant documents among the first', () => {
    expect(recallAt(['x', 'a', 'y', 'b'], new Set(['a', 'b']), 2)).toBe(0.5);
    expect(recallAt(['x', 'a', 'y', 'b'], new Set(['a', 'b']), 4)).toBe(1);
    expect(recallAt([], new Set(['a']), 10)).toBe(0);
  });

  it('takes one over the place of the first relevant document, and nothing beyond the depth', () => {
    expect(reciprocalRankAt(['x', 'y', 'a', 'b'], new Set(['a', 'b']), 10)).toBeCloseTo(1 / 3, 12);
    expect(reciprocalRankAt(['x', 'y', 'a'], new Set(['a']), 2)).toBe(0);
  });

  it('discounts later places: a single relevant document in place 2 is worth 1 / log2(3)', () => {
    expect(ndcgAt(['x', 'a'], new Set(['a']), 10)).toBeCloseTo(1 / Math.log2(3), 12);
    expect(ndcgAt(['a', 'x', 'b'], new Set(['a', 'b']), 10)).toBeCloseTo(1.5 / (1 + 1 / Math.log2(3)), 12);
  });

  it('agrees with a naive computation on any ranking', () => {
    fc.assert(
      fc.property(rankings, relevance, depths, (ranking, relevant, depth) => {
        const wanted = new Set(relevant);
        let found = 0;
        let gain = 0;
        let reciprocal = 0;
        for (let place = 1; place <= Math.min(depth, ranking.length); place += 1) {
          if (!relevant.includes(ranking[place - 1] as string)) continue;
          found += 1;
          gain += Math.LN2 / Math.log(place + 1);
          if (reciprocal === 0) reciprocal = 1 / place;
        }
        let ideal = 0;
        for (let place = 1; place <= depth && place <= relevant.length; place += 1)
          ideal += Math.LN2 / Math.log(place + 1);
        expect(recallAt(ranking, wanted, depth)).toBeCloseTo(found / relevant.length, 10);
        expect(reciprocalRankAt(ranking, wanted, depth)).toBeCloseTo(reciprocal, 10);
        expect(ndcgAt(ranking, wanted, depth)).toBeCloseTo(gain / ideal, 10);
      }),
    );
  });
});

describe('figures of a sample', () => {
  it('interpolates between neighbours, in whatever order they come', () => {
    expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
    expect(quantile([10, 0], 0.95)).toBeCloseTo(9.5, 12);
    expect(quantile([7], 0.99)).toBe(7);
    expect(median([3, 1, 2])).toBe(2);
    expect(mean([1, 2, 6])).toBe(3);
  });

  it('gives no figure for nothing', () => {
    expect(quantile([], 0.5)).toBeNaN();
    expect(mean([])).toBeNaN();
  });

  it('lies between the two values that bracket its share of the sample', () => {
    const values = fc.array(fc.integer({ min: -1_000, max: 1_000 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (sample, share) => {
        const sorted = [...sample].sort((a, b) => a - b);
        const position = share * (sorted.length - 1);
        const value = quantile(sample, share);
        expect(value).toBeGreaterThanOrEqual((sorted[Math.floor(position)] as number) - 1e-9);
        expect(value).toBeLessThanOrEqual((sorted[Math.ceil(position)] as number) + 1e-9);
      }),
    );
  });
});
