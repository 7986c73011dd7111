import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ORDINARY_QUESTIONS, SAFETY_CASES } from '../../bench/safety-cases.js';
import { createSafetyCheck, NOTICES, PROTOTYPES } from '../../server/ground/safety.js';
import { dangerInWords } from '../../server/ground/safety-rules.js';
import { createFakeTextEncoder, fakeTextVector } from '../fakes/fake-text-encoder.js';

const check = await createSafetyCheck({ textEncoder: createFakeTextEncoder() });
const noVector = new Float32Array(0);

describe('danger in words', () => {
  it.each(SAFETY_CASES)('%j is %s', (text, expected) => {
    expect(dangerInWords(text)).toBe(expected);
  });

  it.each(ORDINARY_QUESTIONS)('%j is nothing', (text) => {
    expect(dangerInWords(text)).toBeNull();
  });

  it('has an answer for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) =>
        [null, 'emergency', 'self_harm'].includes(dangerInWords(text)),
      ),
    );
  });
});

describe('the safety check', () => {
  it('gives the notice of the kind', async () => {
    const notice = await check.check({ text: 'I want to kill myself', vector: noVector });
    expect(notice).toEqual({ kind: 'self_harm', message: NOTICES.self_harm });
  });

  it('listens to the vector when there are no words', async () => {
    const vector = fakeTextVector(PROTOTYPES.emergency[0] as string);
    expect((await check.check({ text: null, vector }))?.kind).toBe('emergency');
    const calm = fakeTextVector('how do plants grow in spring');
    expect(await check.check({ text: null, vector: calm })).toBeNull();
  });

  it('believes words before the vector', async () => {
    const vector = fakeTextVector(PROTOTYPES.emergency[0] as string);
    expect(await check.check({ text: 'How do plants grow?', vector })).toBeNull();
  });

  it('stays silent on vectors of no, zero or invalid numbers', async () => {
    for (const vector of [noVector, new Float32Array(64), new Float32Array(64).fill(NaN)]) {
      expect(await check.check({ text: null, vector })).toBeNull();
    }
  });

  it('goes by words alone without an encoder', async () => {
    const plain = await createSafetyCheck({ textEncoder: null });
    expect(await plain.check({ text: null, vector: fakeTextVector('help') })).toBeNull();
    expect((await plain.check({ text: 'I cannot breathe', vector: noVector }))?.kind).toBe('emergency');
  });
});
