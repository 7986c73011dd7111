import type { TranscriptToken } from './transcriber.js';

/** A written word: the tokens up to the next one that begins with a space. */
interface Word {
  readonly key: string;
  readonly tokens: readonly TranscriptToken[];
}

interface Seam {
  /** Words of the left side that stay. */
  readonly left: number;
  /** First word of the right side that follows them. */
  readonly right: number;
}

/** Words at a window's cut edge that may be misheard, hence dropped to make the two sides meet. */
const MAX_DROPPED = 4;

/**
 * Joins what was heard in overlapping windows of one utterance, in order. Two neighbours meet at the longest run of equal
 * words (case and punctuation aside) near the end of the one and the start of the other; where nothing is equal, both are
 * kept whole: a word said twice harms less than a word lost.
 */
export function joinWindows(windows: readonly (readonly TranscriptToken[])[]): TranscriptToken[] {
  let joined: Word[] = [];
  for (const tokens of windows) {
    const words = toWords(tokens);
    const seam = findSeam(joined, words);
    joined = [...joined.slice(0, seam.left), ...words.slice(seam.right)];
  }
  return joined.flatMap((word) => word.tokens);
}

function toWords(tokens: readonly TranscriptToken[]): Word[] {
  const groups: TranscriptToken[][] = [];
  for (const token of tokens) {
    const current = groups.at(-1);
    if (current && !token.text.startsWith(' ')) current.push(token);
    else groups.push([groups.length === 0 && !token.text.startsWith(' ') ? spaced(token) : token]);
  }
  return groups.map((group) => ({ key: keyOf(group), tokens: group }));
}

/** A window's first token as the start of a word, wherever it will stand. */
function spaced(token: TranscriptToken): TranscriptToken {
  return { text: ` ${token.text}`, confidence: token.confidence };
}

function keyOf(tokens: readonly TranscriptToken[]): string {
  return tokens
    .map((token) => token.text)
    .join('')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

function findSeam(left: readonly Word[], right: readonly Word[]): Seam {
  let best: Seam = { left: left.length, right: 0 };
  let bestRun = 0;
  // Runs are told apart by where they end; the fewest dropped words win among equal lengths.
  for (let end = left.length; end > 0 && end >= left.length - MAX_DROPPED; end--) {
    for (let after = 1; after <= right.length; after++) {
      const run = commonRun(left, end, right, after);
      const dropped = left.length - end + (after - run);
      if (run > bestRun && (run > 1 ? after - run <= MAX_DROPPED : dropped === 0)) {
        best = { left: end, right: after };
        bestRun = run;
      }
    }
  }
  return best;
}

/** How many words are equal going back from `left[end - 1]` and `right[after - 1]`. */
function commonRun(left: readonly Word[], end: number, right: readonly Word[], after: number): number {
  let run = 0;
  while (run < end && run < after) {
    const key = left[end - 1 - run]?.key;
    if (key === undefined || key === '' || key !== right[after - 1 - run]?.key) break;
    run++;
  }
  return run;
}
