import { splitSentences } from '../../shared/sentences.js';
import type { SentenceSpan } from '../../shared/sentences.js';

/** A part of a document; `text` equals `document.slice(start, end)`. */
export interface Segment {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Raised when the rules below change: every document is then segmented and encoded again. */
export const SEGMENTER_VERSION = 1;

/** A passage is long enough from here on, words; the text encoder reads about 180. */
const ENOUGH_WORDS = 60;
/** A passage ends before it grows past this, words, unless one sentence alone is longer. */
const MOST_WORDS = 120;
/** A short rest joins the passage before it up to this, words. */
const MOST_WORDS_WITH_REST = 150;

function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

/** A sentence longer than a passage (a list, a text without stops) is cut between words. */
function cutLong(source: string, sentence: SentenceSpan): SentenceSpan[] {
  const words = [...sentence.text.matchAll(/\S+/g)];
  if (words.length <= MOST_WORDS_WITH_REST) return [sentence];
  const pieces: SentenceSpan[] = [];
  for (let from = 0; from < words.length; from += MOST_WORDS) {
    const first = words[from];
    const last = words[Math.min(from + MOST_WORDS, words.length) - 1];
    if (!first || !last) break;
    const start = sentence.start + first.index;
    const end = sentence.start + last.index + last[0].length;
    pieces.push({ start, end, text: source.slice(start, end) });
  }
  return pieces;
}

interface Group {
  start: number;
  end: number;
  words: number;
}

/**
 * Cuts a document into passages of whole sentences, about 60 to 120 words, in order and without overlap, ending at a paragraph
 * where one comes in time; every character but white space lies in exactly one of them.
 */
export function segmentText(source: string): Segment[] {
  const groups: Group[] = [];
  let group: Group | null = null;
  for (const sentence of splitSentences(source).flatMap((span) => cutLong(source, span))) {
    const words = countWords(sentence.text);
    const isNewParagraph: boolean = group !== null && /\n\s*\n/.test(source.slice(group.end, sentence.start));
    const isFull: boolean =
      group !== null && (group.words + words > MOST_WORDS || (isNewParagraph && group.words >= ENOUGH_WORDS));
    if (group === null || isFull) {
      group = { start: sentence.start, end: sentence.end, words };
      groups.push(group);
    } else {
      group.end = sentence.end;
      group.words += words;
    }
  }
  return joinRest(groups).map(({ start, end }) => ({ start, end, text: source.slice(start, end) }));
}

/** The last passage of a document is often a sentence or two: it joins the one before where there is room. */
function joinRest(groups: Group[]): Group[] {
  const rest = groups.at(-1);
  const before = groups.at(-2);
  if (!rest || !before || rest.words >= ENOUGH_WORDS) return groups;
  if (before.words + rest.words > MOST_WORDS_WITH_REST) return groups;
  return [...groups.slice(0, -2), { start: before.start, end: rest.end, words: before.words + rest.words }];
}
