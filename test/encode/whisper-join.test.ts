import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TranscriptToken } from '../../server/encode/transcriber.js';
import { joinWindows } from '../../server/encode/words-join.js';

const said = (text: string): TranscriptToken[] =>
  text === '' ? [] : text.split(' ').map((word) => ({ text: ` ${word}`, confidence: 0.5 }));
const read = (tokens: readonly TranscriptToken[]): string =>
  tokens
    .map((token) => token.text)
    .join('')
    .trim();
const join = (...windows: string[]): string => read(joinWindows(windows.map(said)));

describe('joining the words of overlapping windows', () => {
  it('says the common part once, whatever its case and punctuation', () => {
    expect(join('does aspirin thin the blood.', 'Thin the blood, and for how long')).toBe(
      'does aspirin thin the blood. and for how long',
    );
  });

  it('drops words that were cut at the edges of the windows', () => {
    expect(join('does aspirin thin the blood an', 'rin thin the blood and for how long')).toBe(
      'does aspirin thin the blood and for how long',
    );
  });

  it('keeps both sides whole where nothing is equal', () => {
    expect(join('one thing', 'quite another')).toBe('one thing quite another');
  });

  it('does not throw away a long piece for the sake of one equal word', () => {
    expect(join('the dose is small', 'nobody knows what the cause is')).toBe(
      'the dose is small nobody knows what the cause is',
    );
  });

  it('passes over silent windows', () => {
    expect(join('', 'a question', '')).toBe('a question');
    expect(join()).toBe('');
  });

  it('puts a space before a window that begins without one', () => {
    const right = [{ text: '"Yes', confidence: 1 }];
    expect(read(joinWindows([said('he said'), right]))).toBe('he said "Yes');
  });

  it('keeps the tokens of a word together', () => {
    const pieces = [' hyper', 'tension', ' kills'].map((text) => ({ text, confidence: 1 }));
    expect(read(joinWindows([pieces, said('kills silently')]))).toBe('hypertension kills silently');
  });

  it('gives back a text of different words, however it is cut into overlapping windows', () => {
    const cuts = fc.record({
      length: fc.integer({ min: 4, max: 40 }),
      window: fc.integer({ min: 4, max: 12 }),
      hop: fc.integer({ min: 1, max: 3 }),
    });
    fc.assert(
      fc.property(cuts, ({ length, window, hop }) => {
        const words = Array.from({ length }, (_, at) => `word${at}`);
        const windows: string[] = [];
        for (let start = 0; start === 0 || start + window < length + hop; start += hop) {
          windows.push(words.slice(start, start + window).join(' '));
        }
        expect(join(...windows)).toBe(words.join(' '));
      }),
    );
  });
});
