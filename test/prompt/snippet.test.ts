import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseSnippet, cutAtWord, SNIPPET_CHARACTERS } from '../../server/prompt/snippet.js';
import { splitSentences } from '../../shared/sentences.js';

const LONG = 'word '.repeat(60).trim();

describe('a snippet', () => {
  it('is the whole passage when it is short', () => {
    expect(chooseSnippet('  One fact. Another fact.  ')).toBe('One fact. Another fact.');
  });

  it('without scores is the beginning, whole sentences only', () => {
    const first = `First ${'a'.repeat(90)}.`;
    const second = `Second ${'b'.repeat(80)}.`;
    const third = `Third ${'c'.repeat(40)}.`;
    expect(chooseSnippet([first, second, third].join(' '))).toBe(`${first} ${second}`);
  });

  it('holds the sentence with the best score, however far back it stands', () => {
    const filler = Array.from({ length: 8 }, (_, index) => `Filler ${String(index)} ${'x'.repeat(60)}.`);
    const answer = 'The answer is salt.';
    const scores = [...filler.map(() => 0.1), 0.9];
    expect(chooseSnippet([...filler, answer].join(' '), scores)).toContain(answer);
  });

  it('cuts a sentence that is too long after a whole word', () => {
    const snippet = chooseSnippet(LONG);
    expect(snippet.length).toBeLessThanOrEqual(SNIPPET_CHARACTERS);
    expect(snippet).toMatch(/word$/);
  });

  it('keeps a word that ends exactly at the limit', () => {
    expect(cutAtWord('abc def ghi', 7)).toBe('abc def');
    expect(cutAtWord('abc defg hi', 7)).toBe('abc');
    expect(cutAtWord('abcdefghij', 4)).toBe('abcd');
  });

  it('never splits a character of two code units', () => {
    expect(cutAtWord('a😀😀', 2)).toBe('a');
  });

  it('is verbatim, within the limit and empty only for an empty text', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 120 }), { maxLength: 8 }),
        fc.array(fc.double({ noNaN: true })),
        (parts, scores) => {
          const text = parts.join('. ');
          const snippet = chooseSnippet(text, scores);
          expect(text.includes(snippet)).toBe(true);
          expect(snippet.length).toBeLessThanOrEqual(SNIPPET_CHARACTERS);
          expect(snippet === '').toBe(text.trim() === '');
        },
      ),
    );
  });
});

describe('sentences', () => {
  it('end at stops before a capital, not at abbreviations, initials or decimals', () => {
    const text = 'Dr. Smith gave 2.5 mg. It helped (e.g. Fig. 2 vs. 3). Did it? Yes! J. Doe agreed.';
    expect(splitSentences(text).map((span) => span.text)).toEqual([
      'Dr. Smith gave 2.5 mg.',
      'It helped (e.g. Fig. 2 vs. 3).',
      'Did it?',
      'Yes!',
      'J. Doe agreed.',
    ]);
  });

  it('hold every visible character once, at the place they say', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'B', '.', ' ', '\n', '?', '"', '…', '9') }),
        (text) => {
          const spans = splitSentences(text);
          for (const span of spans) expect(text.slice(span.start, span.end)).toBe(span.text);
          const joined = spans.map((span) => span.text.replace(/\s/g, '')).join('');
          expect(joined).toBe(text.replace(/\s/g, ''));
        },
      ),
    );
  });
});
