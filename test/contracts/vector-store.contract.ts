import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { VectorStore } from '../../server/retrieve/vector-store.js';
import { createRandom, randomUnit, unit } from '../fixtures/vectors.js';

/** What every vector store does; `tolerance` is how far its cosines may be from the true ones. */
export function vectorStoreContract(
  name: string,
  create: (dimensions: number) => Promise<VectorStore>,
  tolerance: number,
): void {
  describe(`${name} as a vector store`, () => {
    const east = unit([1, 0, 0]);
    const north = unit([0, 1, 0]);
    const northEast = unit([1, 1, 0]);

    it('gives nothing when it is empty', async () => {
      const store = await create(3);
      expect(store.size).toBe(0);
      expect(store.search(east, 10)).toEqual([]);
    });

    it('gives one hit when it holds one item and ten are asked for', async () => {
      const store = await create(3);
      store.write({ add: [{ key: 7, vector: east }] });
      const hits = store.search(northEast, 10);
      expect(hits.map((hit) => hit.key)).toEqual([7]);
      expect(Math.abs((hits[0]?.score ?? 0) - Math.SQRT1_2)).toBeLessThan(tolerance);
    });

    it('holds key 0 like any other', async () => {
      const store = await create(3);
      store.write({ add: [{ key: 0, vector: east }] });
      store.write({ add: [{ key: 1, vector: north }] });
      expect(store.search(east, 1).map((hit) => hit.key)).toEqual([0]);
      store.write({ remove: [0] });
      expect(store.search(east, 5).map((hit) => hit.key)).toEqual([1]);
    });

    it('orders by cosine, best first, down to the opposite direction', async () => {
      const store = await create(3);
      store.write({
        add: [
          { key: 1, vector: unit([-1, 0, 0]) },
          { key: 2, vector: northEast },
          { key: 3, vector: east },
        ],
      });
      const hits = store.search(east, 3);
      expect(hits.map((hit) => hit.key)).toEqual([3, 2, 1]);
      [1, Math.SQRT1_2, -1].forEach((cosine, index) => {
        expect(Math.abs((hits[index]?.score ?? 0) - cosine)).toBeLessThan(tolerance);
      });
    });

    it('orders equal scores by key', async () => {
      const store = await create(3);
      store.write({ add: [9, 4, 6].map((key) => ({ key, vector: east })) });
      expect(store.search(east, 3).map((hit) => hit.key)).toEqual([4, 6, 9]);
    });

    it('replaces a key that exists, also twice in one write', async () => {
      const store = await create(3);
      store.write({ add: [{ key: 5, vector: east }] });
      store.write({
        add: [
          { key: 5, vector: northEast },
          { key: 5, vector: north },
        ],
      });
      expect(store.size).toBe(1);
      expect(store.search(north, 2)[0]?.score).toBeGreaterThan(1 - tolerance);
    });

    it('ignores the removal of unknown keys', async () => {
      const store = await create(3);
      store.write({ add: [{ key: 5, vector: east }], remove: [1, 2, -3] });
      store.write({ remove: [99] });
      expect(store.size).toBe(1);
    });

    it('gives nothing for k of 0', async () => {
      const store = await create(3);
      store.write({ add: [{ key: 5, vector: east }] });
      expect(store.search(east, 0)).toEqual([]);
    });

    it.each([
      ['of another dimension', unit([1, 0])],
      ['not of length 1', Float32Array.from([2, 0, 0])],
      ['with a NaN', Float32Array.from([Number.NaN, 0, 0])],
      ['of zeros', Float32Array.from([0, 0, 0])],
    ])('refuses a vector %s and changes nothing', async (_, vector) => {
      const store = await create(3);
      store.write({ add: [{ key: 1, vector: east }] });
      const bad = [
        { key: 2, vector: north },
        { key: 3, vector },
      ];
      expect(() => store.write({ add: bad })).toThrowError(
        expect.objectContaining({ code: 'index_corrupt' }) as Error,
      );
      expect(() => store.search(vector, 1)).toThrowError(
        expect.objectContaining({ code: 'index_corrupt' }) as Error,
      );
      expect(store.size).toBe(1);
    });

    it.each([-1, 0.5, Number.NaN, 2 ** 53])('refuses the key %s', async (key) => {
      const store = await create(3);
      expect(() => store.write({ add: [{ key, vector: east }] })).toThrowError(
        expect.objectContaining({ code: 'index_corrupt' }) as Error,
      );
    });

    it('stays equal to a plain map under any sequence of additions and removals', async () => {
      const step = fc.record({ key: fc.nat(20), seed: fc.nat(1000), remove: fc.boolean() });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
          const store = await create(8);
          const truth = new Map<number, Float32Array>();
          for (const { key, seed, remove } of steps) {
            const vector = randomUnit(createRandom(seed), 8);
            store.write(remove ? { remove: [key] } : { add: [{ key, vector }] });
            if (remove) truth.delete(key);
            else truth.set(key, vector);
          }
          const question = randomUnit(createRandom(4242), 8);
          const hits = store.search(question, 100);
          expect(new Set(hits.map((hit) => hit.key))).toEqual(new Set(truth.keys()));
          for (const { key, score } of hits) {
            const vector = truth.get(key) ?? new Float32Array(8);
            const cosine = vector.reduce((sum, value, index) => sum + value * (question[index] ?? 0), 0);
            expect(Math.abs(score - cosine)).toBeLessThan(tolerance);
          }
        }),
        { numRuns: 40 },
      );
    });
  });
}
