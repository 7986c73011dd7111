import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EncodedWindow, SpeechEncoder } from '../../server/encode/speech-encoder.js';

const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, at) => sum + x * (b[at] ?? 0), 0);

/** A made-up vowel: harmonics of a gliding pitch, different for each seed. */
export function babbleOf(seed: number, samples: number): Float32Array {
  const base = 90 + 37 * seed;
  return Float32Array.from({ length: samples }, (_, n) => {
    const t = n / 16_000;
    const phase = 2 * Math.PI * (base * t + 15 * Math.sin(3 * t + seed));
    return 0.2 * (Math.sin(phase) + 0.5 * Math.sin(3 * phase) + 0.3 * Math.sin((5 + (seed % 3)) * phase));
  });
}

/** What every speech encoder does; `open` makes one, which the suite closes. */
export function speechEncoderContract(
  name: string,
  open: () => Promise<SpeechEncoder> | SpeechEncoder,
): void {
  describe(`speech encoder contract: ${name}`, () => {
    let encoder: SpeechEncoder;
    beforeAll(async () => {
      encoder = await open();
    });
    afterAll(() => encoder.close());

    const one = async (window: Float32Array): Promise<EncodedWindow> => {
      const [encoded] = await encoder.encode([window]);
      if (!encoded) throw new Error('No result for a window.');
      return encoded;
    };

    it('gives one unit vector a window, and features of the frames that hold sound', async () => {
      for (const [samples, frames] of [
        [1, 1],
        [320, 1],
        [321, 2],
        [20_000, 63],
        [128_000, 400],
      ] as const) {
        const encoded = await one(babbleOf(1, samples));
        expect(encoded.vector).toHaveLength(encoder.dimensions);
        expect(dot(encoded.vector, encoded.vector)).toBeCloseTo(1, 4);
        expect(encoded.frames).toBe(frames);
        expect(encoded.features.length % frames).toBe(0);
        expect(encoded.features.length).toBeGreaterThan(0);
      }
    });

    it('answers in order and the same whatever shares the batch', async () => {
      const windows = [20_000, 90_000, 21_000, 128_000, 30_000, 19_999].map((samples, at) =>
        babbleOf(at, samples),
      );
      const together = await encoder.encode(windows);
      expect(together.map((encoded) => encoded.frames)).toEqual([63, 282, 66, 400, 94, 63]);
      for (const [at, window] of windows.entries()) {
        const alone = await one(window);
        expect(dot(alone.vector, (together[at] as EncodedWindow).vector)).toBeGreaterThan(0.999);
      }
    });

    it('gives the same for the same sound twice', async () => {
      const [first, second] = [await one(babbleOf(2, 24_000)), await one(babbleOf(2, 24_000))];
      expect(dot(first.vector, second.vector)).toBeGreaterThan(0.999999);
    });

    it('refuses an empty and a too long window with unsupported_audio', async () => {
      for (const samples of [0, 128_001]) {
        await expect(encoder.encode([babbleOf(1, 100), new Float32Array(samples)])).rejects.toMatchObject({
          code: 'unsupported_audio',
        });
      }
    });

    it('has no results for no windows', async () => {
      expect(await encoder.encode([])).toEqual([]);
    });

    it('rejects an aborted signal with "aborted" and goes on', async () => {
      await expect(encoder.encode([babbleOf(1, 100)], AbortSignal.abort())).rejects.toMatchObject({
        code: 'aborted',
      });
      const stop = new AbortController();
      const running = encoder.encode([babbleOf(1, 100), babbleOf(2, 100)], stop.signal);
      stop.abort();
      await expect(running).rejects.toMatchObject({ code: 'aborted' });
      expect((await one(babbleOf(1, 100))).frames).toBe(1);
    });

    it('takes no work after it was closed', async () => {
      const other = await open();
      await other.close();
      await other.close();
      await expect(other.encode([babbleOf(1, 100)])).rejects.toMatchObject({ code: 'wrong_state' });
    });
  });
}
