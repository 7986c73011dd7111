let rows: Int32Array[] = [new Int32Array(64), new Int32Array(64), new Int32Array(64)];

/**
 * Damerau–Levenshtein distance in its restricted form (optimal string alignment): insertions, deletions, substitutions and
 * swaps of neighbours cost 1 each; no part is edited twice. Source: Damerau 1964; Boytsov 2011, section 2.2.
 */
export function editDistance(a: string, b: string): number {
  if (a === b) return 0;
  if (a.length === 0 || b.length === 0) return Math.max(a.length, b.length);
  const [first, second, third] = rowsOf(b.length + 1);
  let beforeLast = first;
  let last = second;
  let current = third;
  for (let j = 0; j <= b.length; j += 1) last[j] = j;
  for (let i = 1; i <= a.length; i += 1) {
    fillRow({ a, b, i }, current, last, beforeLast);
    [beforeLast, last, current] = [last, current, beforeLast];
  }
  return last[b.length] ?? 0;
}

function fillRow(
  { a, b, i }: { a: string; b: string; i: number },
  current: Int32Array,
  last: Int32Array,
  beforeLast: Int32Array,
): void {
  const letter = a.charCodeAt(i - 1);
  const before = i > 1 ? a.charCodeAt(i - 2) : -1;
  current[0] = i;
  let left = i;
  for (let j = 1; j <= b.length; j += 1) {
    const other = b.charCodeAt(j - 1);
    let best = (last[j - 1] as number) + (letter === other ? 0 : 1);
    const shorter = Math.min(last[j] as number, left) + 1;
    if (shorter < best) best = shorter;
    if (j > 1 && letter === b.charCodeAt(j - 2) && before === other) {
      const swapped = (beforeLast[j - 2] as number) + 1;
      if (swapped < best) best = swapped;
    }
    current[j] = best;
    left = best;
  }
}

/** Rows are kept between calls: the distance is computed some hundred times a query. */
function rowsOf(length: number): readonly [Int32Array, Int32Array, Int32Array] {
  if ((rows[0]?.length ?? 0) < length) rows = rows.map(() => new Int32Array(length * 2));
  return rows as [Int32Array, Int32Array, Int32Array];
}

/** 1 for equal words, 0 for words without anything in common. */
export function editSimilarity(a: string, b: string): number {
  const longer = Math.max(a.length, b.length);
  return longer === 0 ? 1 : 1 - editDistance(a, b) / longer;
}
