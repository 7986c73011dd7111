import { mean, quantile } from './metrics.js';
import { createRandom } from './misspell.js';

/** Low and high end of a 95 % interval. */
export type Interval = readonly [number, number];

export interface BootstrapOptions {
  /** One name a row: rows of one name are drawn together, because they say the same thing again. */
  readonly clusters: readonly string[];
  /** Default 1,000. */
  readonly resamples?: number;
  readonly seed?: number;
}

/**
 * Percentile bootstrap of any statistic over rows (Efron & Tibshirani 1993, chapter 13), clusters drawn with replacement. The
 * statistic sees row numbers, so that several systems measured on the same rows stay paired. Draws whose statistic is not finite
 * (a ratio to nothing) are left out; without any finite draw both ends are NaN.
 */
export function bootstrap(
  statistic: (rows: readonly number[]) => number,
  { clusters, resamples = 1_000, seed = 20_264 }: BootstrapOptions,
): Interval {
  const members = new Map<string, number[]>();
  clusters.forEach((name, row) => {
    const rows = members.get(name);
    if (rows) rows.push(row);
    else members.set(name, [row]);
  });
  const groups = [...members.values()];
  const random = createRandom(seed);
  const drawn: number[] = [];
  for (let resample = 0; resample < resamples; resample += 1) {
    const rows = groups.flatMap(() => groups[Math.floor(random() * groups.length)] ?? []);
    const value = statistic(rows);
    if (Number.isFinite(value)) drawn.push(value);
  }
  return [quantile(drawn, 0.025), quantile(drawn, 0.975)];
}

/** Interval of mean(of) ÷ mean(by), both measured on the same rows. */
export function ratioInterval(
  of: readonly number[],
  by: readonly number[],
  options: BootstrapOptions,
): Interval {
  return bootstrap((rows) => meanOf(of, rows) / meanOf(by, rows), options);
}

/** Interval of mean(of) − mean(from), both measured on the same rows. */
export function differenceInterval(
  of: readonly number[],
  from: readonly number[],
  options: BootstrapOptions,
): Interval {
  return bootstrap((rows) => meanOf(of, rows) - meanOf(from, rows), options);
}

function meanOf(values: readonly number[], rows: readonly number[]): number {
  return mean(rows.map((row) => values[row] ?? Number.NaN));
}
