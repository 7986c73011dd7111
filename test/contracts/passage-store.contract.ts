import { describe, expect, it } from 'vitest';
import type { Passage, PassageStore } from '../../server/retrieve/passage-store.js';

/**
 * What every passage store does. `create` gives a store with the passages of `contractPassages` (keys may be its own), and the
 * keys under which they lie.
 */
export function passageStoreContract(
  name: string,
  create: () => Promise<{ store: PassageStore; keys: { asthma: number; gout: number; spoken: number } }>,
): void {
  describe(`${name} as a passage store`, () => {
    it('answers keys in the order asked and leaves out unknown ones', async () => {
      const { store, keys } = await create();
      const found = store.byKeys('passages', [keys.gout, 987_654, keys.asthma, keys.gout]);
      expect(found.map((passage) => passage.id)).toEqual(['gout#0', 'asthma#0', 'gout#0']);
      expect(found.map((passage) => passage.key)).toEqual([keys.gout, keys.asthma, keys.gout]);
    });

    it('does not give an item of one store for a key asked of the other', async () => {
      const { store, keys } = await create();
      expect(store.byKeys('speech', [keys.asthma])).toEqual([]);
      expect(store.byKeys('passages', [keys.spoken])).toEqual([]);
    });

    it('gives back everything that was put in', async () => {
      const { store } = await create();
      for (const expected of contractPassages) {
        const { key, ...rest } = store.byId(expected.id) as Passage;
        expect(Number.isInteger(key)).toBe(true);
        expect(rest).toEqual(expected);
      }
      expect(store.size).toBe(3);
    });

    it('gives null for an unknown id', async () => {
      const { store } = await create();
      expect(store.byId('nobody#0')).toBeNull();
      expect(store.byId("' OR 1=1 --")).toBeNull();
    });
  });
}

export const contractPassages: ReadonlyArray<Omit<Passage, 'key'>> = [
  {
    id: 'asthma#0',
    store: 'passages',
    documentId: 'asthma',
    title: 'Asthma',
    text: 'Airways narrow and swell.',
    url: 'https://example.org/asthma',
    start: 0,
    end: 25,
    source: 'notes',
  },
  {
    id: 'gout#0',
    store: 'passages',
    documentId: 'gout',
    title: 'Gout',
    text: 'Crystals form in a joint.',
    start: 0,
    end: 25,
    source: 'notes',
  },
  {
    id: 'speech:q1#0',
    store: 'speech',
    documentId: 'speech:q1',
    title: 'q1',
    text: 'what is gout',
    start: 0,
    end: 12,
    source: 'questions',
    clip: { recordingId: 'q1', audioPath: '/audio/q1.wav', startMs: 0, endMs: 1200, speaker: 'anna' },
  },
];
