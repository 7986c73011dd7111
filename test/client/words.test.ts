import { describe, expect, it } from 'vitest';
import { neighbourUrl } from '../../client/clip-player.js';
import { answerSentence, evidenceSentence, timingParts } from '../../client/timing-words.js';
import { thin, tracePath, trimEnd } from '../../client/trace-path.js';
import { timings } from '../fixtures/page-events.js';

describe('what the page says of times', () => {
  it('says how long the evidence took and how much of it was waiting', () => {
    expect(evidenceSentence(timings, 'speech')).toBe(
      'Evidence 0.61 s after you stopped, 0.50 s of it waiting for silence.',
    );
    expect(evidenceSentence({ ...timings, endpointWaitMs: 0 }, 'text')).toBe(
      'Evidence 0.61 s after you asked.',
    );
    expect(evidenceSentence({ ...timings, firstEvidenceMs: null }, 'speech')).toBe('No evidence was shown.');
    expect(answerSentence(timings)).toBe('Answer after 0.70 s, all done after 0.73 s.');
    expect(answerSentence({ ...timings, firstAnswerMs: null })).toBe('All done after 0.73 s.');
  });

  it('draws parts that add up to the whole and leaves empty ones out', () => {
    const parts = timingParts(timings);
    expect(parts.map((part) => part.name)).toEqual(['wait', 'search', 'ground', 'answer', 'judge', 'other']);
    expect(parts.reduce((sum, part) => sum + part.ms, 0)).toBe(timings.doneMs);
  });
});

describe('the drawn question', () => {
  it('is a straight line for silence and swings both ways for sound', () => {
    expect(tracePath([0, 0], 30, 20)).toBe('M0 10.0L10.0 10.0L20.0 10.0L30.0 10.0');
    expect(tracePath([1, 1], 30, 20)).toBe('M0 10.0L10.0 1.0L20.0 19.0L30.0 10.0');
  });

  it('keeps the loudest of each stretch when it is thinned', () => {
    expect(thin([0, 1, 0, 0, 0.5, 0], 3)).toEqual([1, 0, 0.5]);
    expect(thin([0.2], 3)).toEqual([0.2]);
  });

  it('ends where the voice ended', () => {
    expect(trimEnd([0.1, 0.9, 0.2, 0.8, 0.1, 0])).toEqual([0.1, 0.9, 0.2, 0.8]);
    expect(trimEnd([0, 0.1])).toEqual([]);
  });
});

describe('neighbours of a recording', () => {
  it('have the address with their own id, or none', () => {
    expect(neighbourUrl('/v1/clips/a%20b', 'c/d')).toBe('/v1/clips/c%2Fd');
    expect(neighbourUrl('/v1/clips/a', undefined)).toBeNull();
  });
});
