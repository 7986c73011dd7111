import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparableWords, wordEdits } from '../../bench/words-error.js';

describe('words as the bench compares them', () => {
  it.each([
    ['ENTER NINE TWO EIGHT', 'Enter 9-2-8.'],
    ['FIFTY SIX', '56'],
    ['twenty one days', '21 days'],
    ['K R A U S', 'K-R-A-U-S.'],
    ["it's Café", 'its cafe'],
    ['the twelfth of may', 'The twelfth of May,'],
  ])('takes "%s" and "%s" for the same', (one, other) => {
    expect(comparableWords(one)).toEqual(comparableWords(other));
  });

  it.each([
    ['ten mg', 'two mg'],
    ['a dose', 'the dose'],
    ['sixty', 'sixteen'],
  ])('tells "%s" from "%s"', (one, other) => {
    expect(comparableWords(one)).not.toEqual(comparableWords(other));
  });
});

describe('word edits', () => {
  it('counts what was replaced, dropped and added', () => {
    expect(wordEdits(['a', 'b', 'c'], ['a', 'x', 'c'])).toBe(1);
    expect(wordEdits(['a', 'b', 'c'], ['a', 'c'])).toBe(1);
    expect(wordEdits(['a'], ['a', 'b', 'c'])).toBe(2);
    expect(wordEdits([], ['a'])).toBe(1);
    expect(wordEdits(['a', 'b'], [])).toBe(2);
  });

  it('is a distance: zero for the same, the same both ways, never above the longer side', () => {
    const words = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 8 });
    fc.assert(
      fc.property(words, words, (one, other) => {
        expect(wordEdits(one, one)).toBe(0);
        expect(wordEdits(one, other)).toBe(wordEdits(other, one));
        expect(wordEdits(one, other)).toBeLessThanOrEqual(Math.max(one.length, other.length));
        expect(wordEdits(one, other)).toBeGreaterThanOrEqual(Math.abs(one.length - other.length));
      }),
    );
  });
});
