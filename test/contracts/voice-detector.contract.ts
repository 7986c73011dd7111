import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { VoiceDetector } from '../../server/audio/voice-detector.js';

/** What every voice detector does. */
export function voiceDetectorContract(
  name: string,
  open: () => Promise<VoiceDetector> | VoiceDetector,
): void {
  describe(`voice detector contract: ${name}`, () => {
    let detector: VoiceDetector;
    beforeAll(async () => {
      detector = await open();
    });
    beforeEach(() => detector.reset());
    afterAll(() => detector.close());

    const windowOf = (seed: number): Float32Array =>
      Float32Array.from(
        { length: detector.windowSamples },
        (_, n) => 0.3 * Math.sin(n * (0.05 + 0.03 * seed)),
      );

    it('gives a probability for a window, and a low one for silence', async () => {
      for (let seed = 0; seed < 5; seed += 1) {
        const probability = await detector.detect(windowOf(seed));
        expect(probability).toBeGreaterThanOrEqual(0);
        expect(probability).toBeLessThanOrEqual(1);
      }
      detector.reset();
      for (let n = 0; n < 10; n += 1) {
        expect(await detector.detect(new Float32Array(detector.windowSamples))).toBeLessThan(0.3);
      }
    });

    it('answers calls in order, and the same whether they are awaited or not', async () => {
      const windows = [1, 2, 3, 4, 5, 6].map(windowOf);
      const apart: number[] = [];
      for (const window of windows) apart.push(await detector.detect(window));
      detector.reset();
      const order: number[] = [];
      const together = await Promise.all(
        windows.map(async (window, at) => {
          const probability = await detector.detect(window);
          order.push(at);
          return probability;
        }),
      );
      expect(together).toEqual(apart);
      expect(order).toEqual([0, 1, 2, 3, 4, 5]);
    });

    it('is not disturbed by a caller who uses the window again', async () => {
      const window = windowOf(2);
      const kept = await detector.detect(window.slice());
      detector.reset();
      const answer = detector.detect(window);
      window.fill(0);
      expect(await answer).toBe(kept);
    });

    it('survives NaN without forgetting how to count', async () => {
      await detector.detect(new Float32Array(detector.windowSamples).fill(Number.NaN));
      expect(await detector.detect(new Float32Array(detector.windowSamples))).toBeLessThan(0.3);
    });

    it('refuses a window of another length', async () => {
      for (const length of [0, detector.windowSamples - 1, detector.windowSamples + 1]) {
        await expect(detector.detect(new Float32Array(length))).rejects.toMatchObject({
          code: 'unsupported_audio',
        });
      }
    });

    it('keeps streams apart', async () => {
      const other = await open();
      const alone: number[] = [];
      for (const seed of [1, 2, 3]) alone.push(await detector.detect(windowOf(seed)));
      detector.reset();
      const mixed: number[] = [];
      for (const seed of [1, 2, 3]) {
        const [mine] = await Promise.all([detector.detect(windowOf(seed)), other.detect(windowOf(9 - seed))]);
        mixed.push(mine);
      }
      expect(mixed).toEqual(alone);
      other.close();
    });

    it('rejects with wrong_state after it was closed', async () => {
      const other = await open();
      other.close();
      await expect(other.detect(new Float32Array(other.windowSamples))).rejects.toMatchObject({
        code: 'wrong_state',
      });
    });
  });
}
