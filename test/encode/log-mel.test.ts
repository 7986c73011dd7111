import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFrameSpectra } from '../../server/encode/frame-spectra.js';
import { createLogMel } from '../../server/encode/log-mel.js';

interface Fixture {
  readonly cases: ReadonlyArray<{
    readonly signal: Record<string, number>;
    readonly bucketSamples: number;
    readonly melFrames: number;
    readonly values: ReadonlyArray<readonly [number, number, number]>;
  }>;
}
const fixture = JSON.parse(readFileSync('test/fixtures/log-mel.json', 'utf8')) as Fixture;

/** The fixture's formula: a linear chirp and a steady tone with a silent gap. */
function signal(s: Record<string, number>): Float32Array {
  const get = (name: string): number => s[name] ?? Number.NaN;
  return Float32Array.from({ length: get('samples') }, (_, n) => {
    if (n >= get('gapStart') && n < get('gapEnd')) return 0;
    const t = n / get('rate');
    const phase =
      2 * Math.PI * (get('f0') * t + ((get('f1') - get('f0')) * t * t) / (2 * get('sweepSeconds')));
    return (
      get('chirpAmplitude') * Math.sin(phase) +
      get('toneAmplitude') * Math.sin(2 * Math.PI * get('toneHz') * t)
    );
  });
}

/** The definition, one sum a bin. */
function naivePower(frame: Float32Array): number[] {
  return Array.from({ length: 201 }, (_, k) => {
    let [re, im] = [0, 0];
    for (let n = 0; n < 400; n += 1) {
      const x = (0.5 - 0.5 * Math.cos((2 * Math.PI * n) / 400)) * (frame[n] ?? 0);
      re += x * Math.cos((2 * Math.PI * k * n) / 400);
      im -= x * Math.sin((2 * Math.PI * k * n) / 400);
    }
    return re * re + im * im;
  });
}

describe('the spectrum of two frames at once', () => {
  it('equals the Fourier sum of each', () => {
    fc.assert(
      fc.property(
        fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: 800, maxLength: 800 }),
        (xs) => {
          const samples = Float32Array.from(xs);
          const power = createFrameSpectra().pair(samples, 0, 400);
          const expected = [...naivePower(samples.subarray(0, 400)), ...naivePower(samples.subarray(400))];
          expected.forEach((value, at) =>
            expect(Math.abs((power[at] ?? 9) - value)).toBeLessThan(1e-8 * (1 + value)),
          );
        },
      ),
      { numRuns: 10 },
    );
  });
});

describe('log-mel', () => {
  it.each(fixture.cases)('matches Whisper in a bucket of $bucketSamples samples to 1e-3', (one) => {
    const out = new Float32Array(80 * one.melFrames + 5).fill(7);
    createLogMel().write(signal(one.signal), one.bucketSamples, { out, offset: 5 });
    const worst = Math.max(
      ...one.values.map(([band, frame, expected]) =>
        Math.abs((out[5 + band * one.melFrames + frame] ?? 99) - expected),
      ),
    );
    expect(worst).toBeLessThan(1e-3);
    expect(out.subarray(0, 5)).toEqual(new Float32Array(5).fill(7));
  });

  it('gives the same whatever was computed before', () => {
    const logMel = createLogMel();
    const [first, , last] = fixture.cases;
    if (!first || !last) throw new Error('The fixture has lost its cases.');
    const run = (one: typeof first): Float32Array => {
      const out = new Float32Array(80 * one.melFrames);
      logMel.write(signal(one.signal), one.bucketSamples, { out, offset: 0 });
      return out;
    };
    const before = run(first);
    run(last);
    expect(run(first)).toEqual(before);
  });

  it('is flat for silence, and fills a bucket to its last sample', () => {
    const out = new Float32Array(80 * 200);
    createLogMel().write(new Float32Array(32_000), 32_000, { out, offset: 0 });
    expect(new Set(out)).toEqual(new Set([-1.5]));
    const full = new Float32Array(32_000);
    full[31_999] = 1;
    createLogMel().write(full, 32_000, { out, offset: 0 });
    expect(out[199]).toBeGreaterThan(out[190] ?? 0);
  });
});
