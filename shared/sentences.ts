/** A sentence as it stands in its text; `text` equals `source.slice(start, end)`. */
export interface SentenceSpan {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Words whose full stop does not end a sentence. */
const ABBREVIATIONS = new Set(
  'e.g i.e vs dr mr mrs ms prof fig figs al approx ca cf no st resp incl etc sp spp var subsp'.split(' '),
);

/** A stop, closing quotes or brackets after it, then white space; or a line break on its own. */
const BOUNDARY = /(?:[.!?…]+["'’”)\]]*(?=\s)|\n+)/g;

/**
 * Splits a text into sentences, in order, without white space at their ends; every non-space character lies in exactly one.
 * Rule-based and language-poor on purpose: what it cuts wrongly is still verbatim text.
 */
export function splitSentences(source: string): SentenceSpan[] {
  const spans: SentenceSpan[] = [];
  let from = 0;
  for (const match of source.matchAll(BOUNDARY)) {
    const end = match.index + match[0].length;
    if (!match[0].includes('\n') && !endsSentence(source, match.index, end)) continue;
    pushTrimmed(spans, source, from, end);
    from = end;
  }
  pushTrimmed(spans, source, from, source.length);
  return spans;
}

function endsSentence(source: string, stop: number, end: number): boolean {
  const next = /\S/.exec(source.slice(end, end + 8))?.[0];
  // A lower-case letter after a stop says that the stop belonged to an abbreviation.
  if (next !== undefined && /\p{Ll}/u.test(next)) return false;
  if (source[stop] !== '.') return true;
  const word = /[\p{L}.]+$/u.exec(source.slice(Math.max(0, stop - 12), stop))?.[0] ?? '';
  if (/^\p{Lu}$/u.test(word)) return false;
  return !ABBREVIATIONS.has(word.toLowerCase());
}

function pushTrimmed(spans: SentenceSpan[], source: string, from: number, to: number): void {
  let start = from;
  let end = to;
  while (start < end && /\s/.test(source[start] ?? '')) start += 1;
  while (end > start && /\s/.test(source[end - 1] ?? '')) end -= 1;
  if (end > start) spans.push({ start, end, text: source.slice(start, end) });
}
