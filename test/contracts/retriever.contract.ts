import { describe, expect, it } from 'vitest';
import { evidenceItem } from '../../shared/evidence.js';
import type { Query, Retriever } from '../../server/retrieve/retriever.js';

const settings = { k: 3, fusion: 'zscore', maxRounds: 1 } as const;

/** What every retriever does. `create` gives one that finds at least four documents for `query`. */
export function retrieverContract(
  name: string,
  create: () => Promise<{ readonly retriever: Retriever; readonly query: Query }>,
): void {
  describe(`${name} as a retriever`, () => {
    it('gives at most k items of different documents, ranked from 1, best first', async () => {
      const { retriever, query } = await create();
      const { items } = await retriever.retrieve({ queries: [query], settings });
      expect(items.map((item) => item.rank)).toEqual([1, 2, 3]);
      expect(new Set(items.map((item) => item.documentId)).size).toBe(3);
      const scores = items.map((item) => item.score);
      expect([...scores].sort((a, b) => b - a)).toEqual(scores);
    });

    it('gives items that the protocol accepts, each among the hits', async () => {
      const { retriever, query } = await create();
      const { items, hits } = await retriever.retrieve({ queries: [query], settings });
      for (const item of items) {
        expect(() => evidenceItem.parse(item)).not.toThrow();
        expect(hits.map((hit) => hit.id)).toContain(item.id);
      }
    });

    it('leaves out excluded ids and fills up with others', async () => {
      const { retriever, query } = await create();
      const all = await retriever.retrieve({ queries: [query], settings });
      const excluded = all.items[0]?.id ?? '';
      const rest = await (
        await create()
      ).retriever.retrieve({
        queries: [query],
        settings,
        excludeIds: new Set([excluded]),
      });
      expect(rest.items).toHaveLength(3);
      expect(rest.items.map((item) => item.id)).not.toContain(excluded);
    });

    it('has a best score of −1 and no items without queries', async () => {
      const { retriever } = await create();
      const { items, bestScore } = await retriever.retrieve({ queries: [], settings });
      expect([items, bestScore]).toEqual([[], -1]);
    });

    it('rejects with aborted when it was cancelled', async () => {
      const { retriever, query } = await create();
      const cancelled = retriever.retrieve({ queries: [query], settings }, AbortSignal.abort());
      await expect(cancelled).rejects.toMatchObject({ code: 'aborted' });
    });
  });
}
