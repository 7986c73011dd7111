import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { segmentText } from '../../server/ingest/segment.js';

const words = (text: string) => text.match(/\S+/g)?.length ?? 0;
const sentence = (count: number) =>
  `${Array.from({ length: count }, (_, i) => (i === 0 ? 'Word' : 'word')).join(' ')}.`;

describe('segmenting a document', () => {
  it('gives one passage for a short text and none for white space', () => {
    expect(segmentText('One sentence. And two.')).toEqual([
      { start: 0, end: 22, text: 'One sentence. And two.' },
    ]);
    expect(segmentText(' \n\t ')).toEqual([]);
  });

  it('makes passages of whole sentences, 60 to 120 words', () => {
    const text = Array.from({ length: 30 }, () => sentence(20)).join(' ');
    const passages = segmentText(text);
    expect(passages.map((passage) => words(passage.text))).toEqual([120, 120, 120, 120, 120]);
    expect(passages.every((passage) => passage.text.endsWith('.'))).toBe(true);
  });

  it('ends at a paragraph that comes in time, and not at one that comes too early', () => {
    const text = [sentence(30), sentence(40), sentence(70)].join('\n\n');
    expect(segmentText(text).map((passage) => words(passage.text))).toEqual([70, 70]);
  });

  it('joins a short rest to the passage before it', () => {
    const text = [sentence(60), sentence(60), sentence(20)].join(' ');
    expect(segmentText(text).map((passage) => words(passage.text))).toEqual([140]);
  });

  it('cuts a sentence without end between words', () => {
    const passages = segmentText(Array.from({ length: 400 }, (_, i) => `w${i}`).join(' '));
    expect(passages.map((passage) => words(passage.text))).toEqual([120, 120, 120, 40]);
  });

  it('gives spans that are the text, in order, without overlap, and loses no character but white space', () => {
    const piece = fc.oneof(
      fc.constantFrom('. ', '? ', '\n', '\n\n', ' ', '… ', 'e.g. ', 'Dr. X ', '😀', 'é', '\r\n'),
      fc.integer({ min: 1, max: 90 }).map(sentence),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join('');
        const passages = segmentText(text);
        let end = 0;
        for (const passage of passages) {
          expect(text.slice(passage.start, passage.end)).toBe(passage.text);
          expect(passage.start).toBeGreaterThanOrEqual(end);
          expect(text.slice(end, passage.start).trim()).toBe('');
          end = passage.end;
        }
        expect(text.slice(end).trim()).toBe('');
      }),
    );
  });
});
