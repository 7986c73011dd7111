import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createResampler } from '../../server/audio/resample.js';

const sine = (hz: number, rateHz: number, samples: number): Float32Array =>
  Float32Array.from({ length: samples }, (_, n) => 0.5 * Math.sin((2 * Math.PI * hz * n) / rateHz));

const rms = (samples: Float32Array): number =>
  Math.sqrt(samples.reduce((sum, x) => sum + x * x, 0) / samples.length);

async function resample(
  samples: Float32Array,
  rateHz: number,
  pieces: readonly number[],
): Promise<Float32Array> {
  const resampler = await createResampler(rateHz);
  const out: number[] = [];
  let at = 0;
  for (let turn = 0; at < samples.length; turn += 1) {
    const length = pieces[turn % pieces.length] ?? samples.length;
    out.push(...resampler.push(samples.subarray(at, at + length)));
    at += length;
  }
  out.push(...resampler.flush());
  resampler.close();
  return Float32Array.from(out);
}

describe.each([48_000, 44_100, 8_000, 22_050, 32_000])('resampling %i Hz to 16 kHz', (rateHz) => {
  it('turns a 1 kHz sine into that sine, at its place, to 1e-3 after warm-up', async () => {
    const out = await resample(sine(1_000, rateHz, rateHz), rateHz, [rateHz]);
    const expected = sine(1_000, 16_000, 16_000);
    for (let n = 400; n < 15_600; n += 1) {
      expect(Math.abs((out[n] ?? 9) - (expected[n] ?? 0))).toBeLessThan(1e-3);
    }
  });

  it('gives the same in random pieces as in one shot', async () => {
    const input = sine(1_000, rateHz, Math.round(rateHz / 2));
    const oneShot = await resample(input, rateHz, [input.length]);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 8 }),
        async (pieces) => {
          const streamed = await resample(input, rateHz, pieces);
          expect(streamed.length).toBe(oneShot.length);
          streamed.forEach((x, n) => expect(Math.abs(x - (oneShot[n] ?? 9))).toBeLessThan(1e-3));
        },
      ),
      { numRuns: 8 },
    );
  });

  it('has the right length within one sample after the flush', async () => {
    for (const samples of [1, 160, 4_411, 44_100]) {
      const out = await resample(sine(300, rateHz, samples), rateHz, [441]);
      expect(Math.abs(out.length - (samples * 16_000) / rateHz)).toBeLessThanOrEqual(1);
    }
  });
});

describe('the resampler', () => {
  it('passes 16 kHz through untouched, as a copy', async () => {
    const resampler = await createResampler(16_000);
    const input = Float32Array.of(0.25, -0.5, 1);
    const output = resampler.push(input);
    expect(output).toEqual(input);
    expect(output.buffer).not.toBe(input.buffer);
    expect(resampler.flush()).toHaveLength(0);
  });

  it('attenuates a 10 kHz tone by 60 dB instead of folding it, and keeps 7 kHz within 1 dB', async () => {
    for (const rateHz of [48_000, 44_100]) {
      const high = await resample(sine(10_000, rateHz, rateHz), rateHz, [rateHz]);
      expect(rms(high.subarray(800, 15_200))).toBeLessThan(0.001 * rms(sine(10_000, rateHz, rateHz)));
      const low = await resample(sine(7_000, rateHz, rateHz), rateHz, [960]);
      expect(20 * Math.log10(rms(low.subarray(800, 15_200)) / Math.SQRT1_2 / 0.5)).toBeGreaterThan(-1);
    }
  });

  it('is still in time after ten minutes at 44.1 kHz, to less than one 20 ms frame', async () => {
    const resampler = await createResampler(44_100);
    const frame = new Float32Array(882);
    let produced = 0;
    for (let n = 0; n < 30_000; n += 1) produced += resampler.push(frame).length;
    expect(Math.abs(produced - 600 * 16_000)).toBeLessThan(320);
    produced += resampler.flush().length;
    expect(produced).toBe(600 * 16_000);
    resampler.close();
  });

  it('refuses rates outside 8–48 kHz and work after its end', async () => {
    await expect(createResampler(96_000)).rejects.toMatchObject({ code: 'unsupported_audio' });
    await expect(createResampler(Number.NaN)).rejects.toMatchObject({ code: 'unsupported_audio' });
    const resampler = await createResampler(8_000);
    resampler.flush();
    expect(() => resampler.push(new Float32Array(1))).toThrow(/ended/);
    resampler.close();
    resampler.close();
    expect(() => resampler.push(new Float32Array(1))).toThrow(/closed/);
  });
});
