import { doubleMetaphone } from 'double-metaphone';
import { editSimilarity } from './edit-distance.js';

/** Double-metaphone codes of a word: the usual and the other pronunciation, often the same. Source: Philips 2000. */
export type PhoneticCodes = readonly [string, string];

export function phoneticCodes(word: string): PhoneticCodes {
  return doubleMetaphone(word);
}

/** How alike two words sound, 0 … 1: the best edit similarity between their codes. Words without a code are not alike. */
export function phoneticSimilarity(a: PhoneticCodes, b: PhoneticCodes): number {
  let best = 0;
  for (const codeA of distinct(a)) {
    for (const codeB of distinct(b)) {
      if (codeA === '' || codeB === '') continue;
      best = Math.max(best, editSimilarity(codeA, codeB));
    }
  }
  return best;
}

/** The codes without the second where it repeats the first. */
export function distinct(codes: PhoneticCodes): readonly string[] {
  return codes[0] === codes[1] ? [codes[0]] : codes;
}
