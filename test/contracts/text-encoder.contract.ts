import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TextEncoder } from '../../server/encode/text-encoder.js';

const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, at) => sum + x * (b[at] ?? 0), 0);

/** What every text encoder does; `open` makes one, which the suite closes. */
export function textEncoderContract(name: string, open: () => Promise<TextEncoder> | TextEncoder): void {
  describe(`text encoder contract: ${name}`, () => {
    let encoder: TextEncoder;
    beforeAll(async () => {
      encoder = await open();
    });
    afterAll(() => encoder.close());

    it('gives one unit vector of its dimension per text, in order', async () => {
      const texts = ['What is a migraine?', '', 'a', 'Aspirin thins the blood.'];
      const vectors = await encoder.encode(texts, 'passage');
      expect(vectors).toHaveLength(4);
      for (const vector of vectors) {
        expect(vector).toHaveLength(encoder.dimensions);
        expect(dot(vector, vector)).toBeCloseTo(1, 4);
      }
      const [alone] = await encoder.encode(['a'], 'passage');
      expect(dot(alone as Float32Array, vectors[2] as Float32Array)).toBeGreaterThan(0.9999);
    });

    it('gives the same vector whatever shares the batch', async () => {
      const text = 'Does vitamin D protect the bones of older people?';
      const [alone] = await encoder.encode([text], 'query');
      const company = Array.from({ length: 9 }, (_, n) => 'A sentence about something else. '.repeat(n + 1));
      const together = await encoder.encode([...company, text], 'query');
      expect(dot(alone as Float32Array, together[9] as Float32Array)).toBeGreaterThan(0.9999);
    });

    it('tells different texts apart', async () => {
      const [a, b] = await encoder.encode(['kidney stones', 'a walk in the mountains'], 'query');
      expect(dot(a as Float32Array, b as Float32Array)).toBeLessThan(0.9);
    });

    it('reads the beginning of a text that is longer than it can read', async () => {
      const [vector] = await encoder.encode(['word '.repeat(5_000)], 'passage');
      expect(dot(vector as Float32Array, vector as Float32Array)).toBeCloseTo(1, 4);
    });

    it('has no vectors for no texts', async () => {
      expect(await encoder.encode([], 'query')).toEqual([]);
    });

    it('rejects an aborted signal with "aborted"', async () => {
      const before = AbortSignal.abort();
      await expect(encoder.encode(['x'], 'query', before)).rejects.toMatchObject({ code: 'aborted' });
      const stop = new AbortController();
      const running = encoder.encode(['one', 'two', 'three'], 'query', stop.signal);
      stop.abort();
      await expect(running).rejects.toMatchObject({ code: 'aborted' });
      expect(await encoder.encode(['still alive'], 'query')).toHaveLength(1);
    });

    it('takes no work after it was closed', async () => {
      const other = await open();
      await other.close();
      await other.close();
      await expect(other.encode(['x'], 'query')).rejects.toMatchObject({ code: 'wrong_state' });
    });
  });
}
