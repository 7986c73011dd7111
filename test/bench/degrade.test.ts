import { describe, expect, it } from 'vitest';
import { activePower, CONDITIONS, degrade, mix, powerOf, telephone } from '../../bench/degrade.js';
import { createRandom } from '../../bench/misspell.js';

const tone = (hz: number, samples: number, level = 0.3) =>
  Float32Array.from({ length: samples }, (_, at) => level * Math.sin((2 * Math.PI * hz * at) / 16_000));
const hiss = (samples: number, seed: number) => {
  const random = createRandom(seed);
  return Float32Array.from({ length: samples }, () => random() - 0.5);
};

describe('spoiled sound', () => {
  it.each([0, 5, 20])('adds noise so that speech is %i dB above it', (db) => {
    const speech = tone(500, 16_000);
    const noisy = mix(speech, hiss(48_000, 1), db, createRandom(2));
    const added = noisy.map((value, at) => value - (speech[at] ?? 0));
    expect(10 * Math.log10(powerOf(speech) / powerOf(added))).toBeCloseTo(db, 1);
  });

  it('measures the level of speech without its pauses', () => {
    const withPause = new Float32Array(32_000);
    withPause.set(tone(500, 16_000));
    expect(activePower(withPause)).toBeCloseTo(powerOf(tone(500, 16_000)), 4);
  });

  it('keeps what a telephone carries and loses what it does not', async () => {
    const voice = await telephone(tone(1_000, 16_000));
    expect(voice).toHaveLength(16_000);
    const high = tone(6_000, 16_000);
    const low = await telephone(tone(1_000, 16_000).map((value, at) => value + (high[at] ?? 0)));
    const powerAt = (samples: Float32Array, hz: number) => {
      let re = 0;
      let im = 0;
      samples.forEach((value, at) => {
        re += value * Math.cos((2 * Math.PI * hz * at) / 16_000);
        im += value * Math.sin((2 * Math.PI * hz * at) / 16_000);
      });
      return (re * re + im * im) / samples.length ** 2;
    };
    expect(powerAt(low, 6_000)).toBeLessThan(powerAt(low, 1_000) / 1_000);
    expect(powerAt(voice, 1_000)).toBeGreaterThan(0.01);
  });

  it.each(CONDITIONS)(
    '%s: the same utterance is spoiled alike in every run, and stays below full scale',
    async (condition) => {
      const how = {
        noises: [hiss(20_000, 3), hiss(9_000, 4)],
        others: [tone(300, 5_000), tone(700, 30_000)],
        number: 1,
      };
      const speech = tone(500, 16_000, 0.9);
      const first = await degrade(speech, condition, how);
      expect(await degrade(speech, condition, how)).toEqual(first);
      expect(first).toHaveLength(16_000);
      expect(first.every((value) => Math.abs(value) <= 1)).toBe(true);
      expect(condition === 'clean').toBe(first === speech);
    },
  );

  it('takes another stretch of noise for another utterance', async () => {
    const how = { noises: [hiss(200_000, 3)], others: [] };
    const speech = tone(500, 16_000);
    expect(await degrade(speech, '5', { ...how, number: 0 })).not.toEqual(
      await degrade(speech, '5', { ...how, number: 1 }),
    );
  });

  it('refuses to call sound noisy without noise', async () => {
    await expect(degrade(tone(500, 100), '5', { noises: [], others: [], number: 0 })).rejects.toThrow(
      RangeError,
    );
    await expect(degrade(tone(500, 100), 'babble', { noises: [], others: [], number: 0 })).rejects.toThrow(
      RangeError,
    );
  });
});
