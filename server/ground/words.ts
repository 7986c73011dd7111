/** One word of a text with its place. */
export interface Word {
  /** As written. */
  readonly text: string;
  /** As compared: lower case, without accents, without a possessive `'s`. */
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:['’](?=\p{L})[\p{L}\p{M}]+)?/gu;
/** The same for plain letters, which nearly all names are written in: some four times as fast. */
const PLAIN_WORD = /[a-z0-9]+(?:'[a-z]+)?/gi;
const PLAIN = /^[ -~]*$/;

/** Words of a text in order; hyphens and slashes part words, so that `non-Hodgkin` and `non Hodgkin` are the same. */
export function splitWords(text: string): Word[] {
  const isPlain = PLAIN.test(text);
  const words: Word[] = [];
  for (const match of text.matchAll(isPlain ? PLAIN_WORD : WORD)) {
    const [written] = match;
    const key = isPlain ? plainKey(written) : wordKey(written);
    words.push({ text: written, key, start: match.index, end: match.index + written.length });
  }
  return words;
}

/** The form in which words are compared. */
export function wordKey(word: string): string {
  if (PLAIN.test(word)) return plainKey(word);
  return plainKey(word.normalize('NFKD').replace(/\p{M}+/gu, ''));
}

function plainKey(word: string): string {
  const key = word.toLowerCase();
  return /['’]/.test(key) ? key.replace(/['’]s$/u, '').replace(/['’]/gu, '') : key;
}

/**
 * The singular as far as spelling tells. It only has to be the same for both numbers of a word, not to be English:
 * words in -ss, -us and -is keep their s.
 */
export function foldPlural(key: string): string {
  if (key.length <= 3 || !key.endsWith('s') || /(?:ss|us|is)$/.test(key)) return key;
  if (key.endsWith('ies') && key.length > 4) return `${key.slice(0, -3)}y`;
  if (/(?:us|ss|x|ch|sh)es$/.test(key)) return key.slice(0, -2);
  return key.slice(0, -1);
}

/** Endings that make forms of one word out of a stem, Greek and Latin plurals among them. */
const ENDINGS =
  /(?:isations?|izations?|ations?|ities|ness|ments?|ically|icals?|ics?|ings?|ions?|ies|ity|ous|als?|ed|es|is|os|us|um|ly|ia|ism|ers?|ors?|ys?|as?|s|e|i)$/;

/** One spelling for what is written differently on the two sides of the ocean, or by hurried hands. */
function plainSpelling(key: string): string {
  return key
    .replace(/ae|oe/g, 'e')
    .replace(/ph/g, 'f')
    .replace(/y/g, 'i')
    .replace(/s(?=[ae])/g, 'z')
    .replace(/(.)\1/g, '$1');
}

/**
 * Whether two words look like forms or spellings of one word (diabetes and diabetic, anaemia and anemia): the same stem, and
 * only a usual ending or a national spelling differs.
 */
export function areWordForms(a: string, b: string): boolean {
  if (foldPlural(a) === foldPlural(b)) return true;
  const [plainA, plainB] = [plainSpelling(a), plainSpelling(b)];
  if (plainA === plainB) return true;
  const stemA = plainA.replace(ENDINGS, '');
  return stemA.length >= 4 && stemA === plainB.replace(ENDINGS, '');
}
