/** Shortest piece, in tokens, whose one exact repetition already counts as a loop; shorter ones are said twice in earnest. */
const LONG_PIECE = 4;
/** How often in a row a short piece must come: digits and "no, no, no" stay. */
const SHORT_REPEATS = 4;

/**
 * The repetition guard. A decoder that missed the end of the speech says it again, token by token.
 * When `ids` ends in a loop, the length at which to cut it so that one round is left; else null. Call it after every token:
 * it looks at the end only.
 */
export function loopStart(ids: readonly number[]): number | null {
  for (let size = 1; size * 2 <= ids.length; size++) {
    const needed = size >= LONG_PIECE ? 2 : SHORT_REPEATS;
    if (size * needed <= ids.length && repeats(ids, size, needed)) return ids.length - size * (needed - 1);
  }
  return null;
}

/** Whether the last `size` tokens came `times` times in a row. */
function repeats(ids: readonly number[], size: number, times: number): boolean {
  for (let at = ids.length - size * (times - 1); at < ids.length; at++) {
    if (ids[at] !== ids[at - size]) return false;
  }
  return true;
}
