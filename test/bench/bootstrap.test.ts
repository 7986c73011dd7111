import { describe, expect, it } from 'vitest';
import { bootstrap, differenceInterval, ratioInterval } from '../../bench/bootstrap.js';
import { createRandom } from '../../bench/misspell.js';

const names = (count: number) => Array.from({ length: count }, (_, at) => `q${at}`);

describe('the bootstrap', () => {
  it('gives a point where every row says the same', () => {
    expect(ratioInterval([0.5, 0.5, 0.5], [1, 1, 1], { clusters: names(3) })).toEqual([0.5, 0.5]);
    expect(differenceInterval([2, 2], [3, 3], { clusters: names(2) })).toEqual([-1, -1]);
  });

  it('keeps rows paired: systems that differ by a constant differ by it in every draw', () => {
    const base = [0, 1, 0, 1, 1, 0, 1, 0];
    const own = base.map((value) => value + 0.25);
    const [low, high] = differenceInterval(own, base, { clusters: names(8) });
    expect(low).toBeCloseTo(0.25, 12);
    expect(high).toBeCloseTo(0.25, 12);
  });

  it('agrees with the normal interval of a mean on a large sample', () => {
    const random = createRandom(7);
    const values = Array.from({ length: 400 }, () => Number(random() < 0.3));
    const zeros = values.map(() => 0);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const half = 1.96 * Math.sqrt((mean * (1 - mean)) / values.length);
    const [low, high] = differenceInterval(values, zeros, { clusters: names(400), resamples: 2_000 });
    expect(Math.abs(low - (mean - half))).toBeLessThan(0.01);
    expect(Math.abs(high - (mean + half))).toBeLessThan(0.01);
  });

  it('draws whole clusters: the same question ten times is one question', () => {
    const values = [...Array<number>(10).fill(1), ...Array<number>(10).fill(0)];
    const rows = values.map(() => 0);
    const clustered = values.map((value) => `question ${value}`);
    const [low, high] = differenceInterval(values, rows, { clusters: clustered });
    expect([low, high]).toEqual([0, 1]);
    const alone = differenceInterval(values, rows, { clusters: names(20) });
    expect(alone[0]).toBeGreaterThan(0.2);
    expect(alone[1]).toBeLessThan(0.8);
  });

  it('is the same for the same seed, and leaves draws without a value out', () => {
    const of = [1, 0, 1, 1];
    const by = [0, 0, 1, 1];
    const options = { clusters: names(4), seed: 3 };
    expect(ratioInterval(of, by, options)).toEqual(ratioInterval(of, by, options));
    expect(ratioInterval(of, by, options).every(Number.isFinite)).toBe(true);
    expect(bootstrap(() => Number.NaN, { clusters: names(2) })).toEqual([Number.NaN, Number.NaN]);
  });
});
