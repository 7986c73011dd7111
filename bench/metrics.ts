/** Figures of ranked lists and of samples of numbers. Every function is total: nothing in gives NaN, not an error. */

/** Share of the relevant ids among the first `depth` of a ranking without repetitions, 0 … 1 (recall at k). */
export function recallAt(ranking: readonly string[], relevant: ReadonlySet<string>, depth: number): number {
  if (relevant.size === 0) return Number.NaN;
  return ranking.slice(0, depth).filter((id) => relevant.has(id)).length / relevant.size;
}

/** 1 / place of the first relevant id within `depth`, 0 when there is none (reciprocal rank; its mean is MRR at k). */
export function reciprocalRankAt(
  ranking: readonly string[],
  relevant: ReadonlySet<string>,
  depth: number,
): number {
  const place = ranking.slice(0, depth).findIndex((id) => relevant.has(id));
  return place < 0 ? 0 : 1 / (place + 1);
}

/**
 * Normalised discounted cumulative gain at k with gains of 0 or 1, 0 … 1 (Järvelin & Kekäläinen 2002): Σ 1 / log2(place + 1)
 * of the relevant ids found, divided by that of the best possible ranking.
 */
export function ndcgAt(ranking: readonly string[], relevant: ReadonlySet<string>, depth: number): number {
  if (relevant.size === 0) return Number.NaN;
  const discount = (place: number): number => 1 / Math.log2(place + 2);
  let found = 0;
  ranking.slice(0, depth).forEach((id, place) => {
    if (relevant.has(id)) found += discount(place);
  });
  let best = 0;
  for (let place = 0; place < Math.min(depth, relevant.size); place += 1) best += discount(place);
  return found / best;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * The `share` quantile, 0 … 1, by linear interpolation between the two nearest order statistics (Hyndman & Fan 1996, type 7).
 * The input may be in any order.
 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const position = (sorted.length - 1) * share;
  const low = sorted[Math.floor(position)] ?? Number.NaN;
  const high = sorted[Math.ceil(position)] ?? Number.NaN;
  return low + (high - low) * (position - Math.floor(position));
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);
