import { describe, expect, it } from 'vitest';
import type { KeywordStore } from '../../server/retrieve/keyword-store.js';

/** What every keyword store does; `create` indexes the given texts. */
export function keywordStoreContract(
  name: string,
  create: (documents: ReadonlyArray<{ key: number; text: string }>) => Promise<KeywordStore>,
): void {
  describe(`${name} as a keyword store`, () => {
    const documents = [
      { key: 0, text: 'Gout is a painful arthritis of one joint.' },
      { key: 4, text: 'Asthma narrows the airways.' },
      { key: 9, text: 'Arthritis, arthritis and again arthritis.' },
    ];

    it('gives nothing for unknown words, for no words and for an empty index', async () => {
      const store = await create(documents);
      expect(store.search('zebra crossing', 5)).toEqual([]);
      expect(store.search(' ?! ', 5)).toEqual([]);
      expect((await create([])).search('gout', 5)).toEqual([]);
    });

    it('gives at most k hits, best first, with positive scores', async () => {
      const store = await create(documents);
      const hits = store.search('painful arthritis of a joint', 2);
      expect(hits.map((hit) => hit.key)).toEqual([0, 9]);
      expect(hits.every((hit) => hit.score > 0)).toBe(true);
      expect(store.search('arthritis', 1)).toHaveLength(1);
      expect(store.search('arthritis', 0)).toEqual([]);
    });

    it('names the words of the query that were found', async () => {
      const store = await create(documents);
      const [hit] = store.search('Is GOUT a zebra?', 1);
      expect(new Set(hit?.terms)).toEqual(new Set(['is', 'gout', 'a']));
    });

    it('orders equal scores by key', async () => {
      const store = await create([7, 3, 5].map((key) => ({ key, text: 'the same words' })));
      expect(store.search('same', 3).map((hit) => hit.key)).toEqual([3, 5, 7]);
    });

    it('gives the same answer when asked twice', async () => {
      const store = await create(documents);
      expect(store.search('arthritis joint', 3)).toEqual(store.search('arthritis joint', 3));
      expect(store.size).toBe(3);
    });
  });
}
