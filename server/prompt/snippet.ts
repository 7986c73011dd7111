import { splitSentences, type SentenceSpan } from '../../shared/sentences.js';

/** Characters of one snippet at most. */
export const SNIPPET_CHARACTERS = 200;

/**
 * The stretch of a passage that a generator may see: contiguous, verbatim, at most `limit` characters.
 * It begins with the sentence that scores best (one score a sentence, in order; without scores the first one) and grows by
 * whole neighbouring sentences while they fit, following ones first. A sentence longer than the limit is cut at a word.
 */
export function chooseSnippet(
  text: string,
  scores?: readonly number[],
  limit: number = SNIPPET_CHARACTERS,
): string {
  const sentences = splitSentences(text);
  const bestIndex = indexOfBest(sentences.length, scores);
  const best = sentences[bestIndex];
  if (best === undefined) return '';
  if (best.text.length > limit) return cutAtWord(best.text, limit);
  return growAround(text, sentences, bestIndex, limit);
}

/** At most `limit` characters of a text, cut after a whole word; a single longer word is cut hard, never inside a code point. */
export function cutAtWord(text: string, limit: number): string {
  const trimmed = text.trim();
  if (trimmed.length <= limit) return trimmed;
  const head = trimmed.slice(0, limit + 1);
  const space = head.search(/\s\S*$/);
  if (space > 0) return head.slice(0, space).trimEnd();
  const hard = trimmed.slice(0, limit);
  return /[\uD800-\uDBFF]$/.test(hard) ? hard.slice(0, -1) : hard;
}

function indexOfBest(count: number, scores: readonly number[] | undefined): number {
  let best = 0;
  for (let index = 1; index < count; index += 1) {
    if ((scores?.[index] ?? -Infinity) > (scores?.[best] ?? -Infinity)) best = index;
  }
  return best;
}

function growAround(text: string, sentences: readonly SentenceSpan[], seed: number, limit: number): string {
  let first = seed;
  let last = seed;
  const fits = (from: number, to: number): boolean =>
    (sentences[to]?.end ?? Infinity) - (sentences[from]?.start ?? -Infinity) <= limit;
  for (;;) {
    if (fits(first, last + 1)) last += 1;
    else if (fits(first - 1, last)) first -= 1;
    else return text.slice(sentences[first]?.start, sentences[last]?.end);
  }
}
