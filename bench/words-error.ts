const SMALL = (
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen ' +
  'seventeen eighteen nineteen'
).split(' ');
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');

/**
 * Words for counting errors: lower case, no accents or punctuation; numbers as their digits and neighbouring numbers in one
 * ("NINE TWO EIGHT", "nine twenty-eight" and "928" are the same); spelled letters in one word ("P O W", "P-O-W").
 */
export function comparableWords(text: string): string[] {
  const plain = text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\p{M}'’]/gu, '')
    .replace(/(\d)(?:st|nd|rd|th)\b/g, '$1');
  const words = plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  return glue(toDigits(words));
}

/** Smallest count of words replaced, dropped or added that turns `expected` into `heard` (Levenshtein over words). */
export function wordEdits(expected: readonly string[], heard: readonly string[]): number {
  let row = Array.from({ length: heard.length + 1 }, (_, at) => at);
  expected.forEach((word, line) => {
    const next = [line + 1];
    heard.forEach((other, at) => {
      const replaced = (row[at] ?? 0) + (word === other ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    });
    row = next;
  });
  return row[heard.length] ?? 0;
}

function toDigits(words: readonly string[]): string[] {
  const out: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const tens = TENS.indexOf(word);
    const ones = SMALL.indexOf(words[at + 1] ?? '');
    if (tens >= 0 && ones > 0 && ones < 10) {
      out.push(String((tens + 2) * 10 + ones));
      at++;
    } else if (tens >= 0) out.push(String((tens + 2) * 10));
    else out.push(SMALL.includes(word) ? String(SMALL.indexOf(word)) : word);
  }
  return out;
}

/** Joins neighbouring numbers, and neighbouring single letters. */
function glue(words: readonly string[]): string[] {
  const out: string[] = [];
  let kind = 'word';
  for (const word of words) {
    const next = /^\d+$/.test(word) ? 'number' : /^\p{L}$/u.test(word) ? 'letter' : 'word';
    const last = out.at(-1);
    if (last !== undefined && next !== 'word' && next === kind) out[out.length - 1] = last + word;
    else out.push(word);
    kind = next;
  }
  return out;
}
