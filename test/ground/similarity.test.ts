import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editDistance, editSimilarity } from '../../server/ground/edit-distance.js';
import { phoneticCodes, phoneticSimilarity } from '../../server/ground/phonetic.js';
import { areWordForms, foldPlural, splitWords, wordKey } from '../../server/ground/words.js';
import { oppositionOf } from '../../server/ground/affixes.js';

/** Straight from the definition, in exponential time. */
function naiveDistance(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length;
  const same = a.at(-1) === b.at(-1) ? 0 : 1;
  const ways = [
    naiveDistance(a.slice(0, -1), b) + 1,
    naiveDistance(a, b.slice(0, -1)) + 1,
    naiveDistance(a.slice(0, -1), b.slice(0, -1)) + same,
  ];
  if (a.length > 1 && b.length > 1 && a.at(-1) === b.at(-2) && a.at(-2) === b.at(-1)) {
    ways.push(naiveDistance(a.slice(0, -2), b.slice(0, -2)) + 1);
  }
  return Math.min(...ways);
}

const short = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 });

describe('edit distance', () => {
  it('counts a swap of neighbours once', () => {
    expect(editDistance('hypertensoin', 'hypertension')).toBe(1);
    expect(editSimilarity('hypertensoin', 'hypertension')).toBeCloseTo(11 / 12);
  });

  it('agrees with its definition', () => {
    fc.assert(
      fc.property(short, short, (a, b) => editDistance(a, b) === naiveDistance(a, b)),
      { numRuns: 200 },
    );
  });

  it('is the same both ways', () => {
    fc.assert(fc.property(fc.string(), fc.string(), (a, b) => editDistance(a, b) === editDistance(b, a)));
  });
});

describe('sound', () => {
  it('is alike for words that differ in spelling only', () => {
    expect(phoneticSimilarity(phoneticCodes('nemonia'), phoneticCodes('pneumonia'))).toBe(1);
    expect(phoneticSimilarity(phoneticCodes('asma'), phoneticCodes('insulin'))).toBeLessThan(0.6);
  });

  it('is nothing for words without a code', () => {
    expect(phoneticSimilarity(['', ''], ['', ''])).toBe(0);
  });
});

describe('words', () => {
  it('stand where they stood', () => {
    expect(splitWords("Crohn's non-Hodgkin ½ naïve")).toMatchObject([
      { text: "Crohn's", key: 'crohn', start: 0, end: 7 },
      { key: 'non', start: 8 },
      { key: 'hodgkin', start: 12 },
      { key: '1⁄2' },
      { key: 'naive' },
    ]);
  });

  it('fold their number and keep words in -us, -is and -ss', () => {
    expect(
      ['allergies', 'allergy', 'viruses', 'virus', 'tumors', 'arthritis', 'mellitus'].map(foldPlural),
    ).toEqual(['allergy', 'allergy', 'virus', 'virus', 'tumor', 'arthritis', 'mellitus']);
  });

  it('are forms of one word when only ending or national spelling differs', () => {
    expect(areWordForms('diabetes', 'diabetic')).toBe(true);
    expect(areWordForms('anaemia', 'anemia')).toBe(true);
    expect(areWordForms('prednisone', 'prednisolone')).toBe(false);
    expect(areWordForms('hypertension', 'hypotension')).toBe(false);
  });

  it('have a key that is its own key', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (word) => wordKey(wordKey(word)) === wordKey(word)),
    );
  });
});

describe('opposition', () => {
  it('is seen in either order and only where all else is equal', () => {
    expect(oppositionOf('hypertension', 'hypotension')).toEqual({ a: 'hyper-', b: 'hypo-' });
    expect(oppositionOf('hypotension', 'hypertension')).toEqual({ a: 'hypo-', b: 'hyper-' });
    expect(oppositionOf('hypertension', 'hypothermia')).toBeNull();
    expect(oppositionOf('asthma', 'asthma')).toBeNull();
  });
});
