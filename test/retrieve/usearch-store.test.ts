import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createExactStore } from '../../server/retrieve/exact-store.js';
import { createUsearchStore, loadUsearchStore } from '../../server/retrieve/usearch-store.js';
import { vectorStoreContract } from '../contracts/vector-store.contract.js';
import { createRandom, randomUnit, unit } from '../fixtures/vectors.js';

const modelId = 'test-model';

vectorStoreContract(
  'the usearch store (f16)',
  async (dimensions) => createUsearchStore({ dimensions, modelId }),
  3e-3,
);
vectorStoreContract(
  'the usearch store (f32)',
  async (dimensions) => createUsearchStore({ dimensions, modelId, scalar: 'f32' }),
  1e-5,
);

function randomItems(seed: number, count: number, dimensions: number) {
  const random = createRandom(seed);
  return Array.from({ length: count }, (_, key) => ({ key, vector: randomUnit(random, dimensions) }));
}

describe('the usearch store against the exact one', () => {
  it('finds nearly all of the ten true neighbours on random data', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(100_000), fc.integer({ min: 20, max: 1200 }), async (seed, count) => {
        const items = randomItems(seed, count, 32);
        const exact = createExactStore({ dimensions: 32 });
        const approximate = await createUsearchStore({ dimensions: 32, modelId });
        exact.write({ add: items });
        approximate.write({ add: items });
        const random = createRandom(seed + 1);
        let found = 0;
        for (let asked = 0; asked < 20; asked++) {
          const question = randomUnit(random, 32);
          const truth = new Set(exact.search(question, 10).map((hit) => hit.key));
          found += approximate.search(question, 10).filter((hit) => truth.has(hit.key)).length;
        }
        expect(found / 200).toBeGreaterThanOrEqual(0.97);
      }),
      { numRuns: 8 },
    );
  });

  it('gives the same hits when built twice from the same vectors', async () => {
    const items = randomItems(11, 2000, 16);
    const [one, two] = [
      await createUsearchStore({ dimensions: 16, modelId }),
      await createUsearchStore({ dimensions: 16, modelId }),
    ];
    one.write({ add: items });
    two.write({ add: items });
    for (const { vector } of items.slice(0, 50))
      expect(one.search(vector, 10)).toEqual(two.search(vector, 10));
  });
});

describe('a usearch index file', () => {
  let folder = '';
  let path = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'auscult-usearch-'));
    path = join(folder, 'passages.usearch');
    const store = await createUsearchStore({ dimensions: 16, modelId });
    store.write({ add: randomItems(3, 200, 16) });
    await store.save(path, 12);
  });
  afterEach(async () => rm(folder, { recursive: true, force: true }));

  const load = async (model = modelId, dimensions = 16) =>
    loadUsearchStore(path, { dimensions, modelId: model });
  const corrupt = (what: RegExp) =>
    expect.objectContaining({
      code: 'index_corrupt',
      message: expect.stringMatching(what) as string,
    }) as Error;

  it('can be searched, added to and changed right after it is loaded, and saved again', async () => {
    const items = randomItems(3, 200, 16);
    const store = await load();
    expect([store.size, store.generation]).toEqual([200, 12]);
    expect(store.search(items[17]?.vector ?? unit([1]), 1)[0]?.key).toBe(17);
    const fresh = randomItems(99, 300, 16).map((item) => ({ ...item, key: item.key + 150 }));
    store.write({ add: fresh, remove: [0] });
    expect(store.size).toBe(449);
    expect(store.search(fresh[0]?.vector ?? unit([1]), 1)[0]?.key).toBe(150);
    await store.save(path, 13);
    const again = await load();
    expect([again.size, again.generation]).toEqual([449, 13]);
    expect(again.search(fresh[299]?.vector ?? unit([1]), 1)[0]?.key).toBe(449);
  });

  it('of an empty store can be loaded and added to', async () => {
    await (await createUsearchStore({ dimensions: 16, modelId })).save(path, 1);
    const store = await load();
    expect(store.size).toBe(0);
    const [item] = randomItems(5, 1, 16);
    if (item) store.write({ add: [item] });
    expect(store.search(item?.vector ?? unit([1]), 10)).toHaveLength(1);
  });

  it('is index_missing when there is none, and the message says what to run', async () => {
    await rm(path);
    await expect(load()).rejects.toMatchObject({
      code: 'index_missing',
      message: expect.stringMatching(/auscult ingest/) as string,
    });
  });

  it.each([
    ['is empty', 0],
    ['lost its second half', 0.5],
    ['lost its last byte', -1],
  ])('is index_corrupt when it %s', async (_, part) => {
    const bytes = await readFile(path);
    const kept = part < 0 ? bytes.length + part : Math.floor(bytes.length * part);
    await writeFile(path, bytes.subarray(0, kept));
    await expect(load()).rejects.toThrowError(corrupt(/truncated.*Delete the file/s));
  });

  it('is index_corrupt when bytes are missing in its middle', async () => {
    const bytes = await readFile(path);
    await writeFile(path, Buffer.concat([bytes.subarray(0, 1000), bytes.subarray(1500)]));
    await expect(load()).rejects.toThrowError(corrupt(/truncated/));
  });

  it('is index_corrupt whichever byte of it is flipped', async () => {
    const bytes = await readFile(path);
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (place, mask) => {
        const changed = Buffer.from(bytes);
        changed[place] = (changed[place] ?? 0) ^ mask;
        await writeFile(path, changed);
        await expect(load()).rejects.toThrowError(corrupt(/Delete the file/));
      }),
      { numRuns: 120 },
    );
  });

  it('is index_corrupt for another model or dimension, naming both', async () => {
    await expect(load('other-model')).rejects.toThrowError(corrupt(/test-model.*other-model/s));
    await expect(load(modelId, 32)).rejects.toThrowError(corrupt(/16.*32/s));
  });

  it('is index_corrupt for another format version', async () => {
    const bytes = await readFile(path);
    const text = bytes.toString('latin1').replace('"formatVersion":1', '"formatVersion":7');
    await writeFile(path, Buffer.from(text, 'latin1'));
    await expect(load()).rejects.toThrowError(corrupt(/version 7/));
  });

  it('is index_corrupt, not a crash, when it holds foreign bytes', async () => {
    await writeFile(path, Buffer.alloc(5000, 'no index at all '));
    await expect(load()).rejects.toThrowError(corrupt(/no index/));
  });
});
