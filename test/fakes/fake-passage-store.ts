import type { Passage, PassageStore } from '../../server/retrieve/passage-store.js';

/** Passages in memory. Several passages may share an id (windows of one item), then the first answers `byId`. */
export function createFakePassageStore(passages: readonly Passage[]): PassageStore {
  return {
    size: new Set(passages.map((passage) => `${passage.store} ${passage.id}`)).size,
    byKeys: (store, keys) =>
      keys.flatMap((key) => {
        const found = passages.find((passage) => passage.store === store && passage.key === key);
        return found ? [found] : [];
      }),
    byId: (id) => passages.find((passage) => passage.id === id) ?? null,
    close() {},
  };
}

/** A passage of store D from a few words. */
export function fakePassage(key: number, text: string, more: Partial<Passage> = {}): Passage {
  const documentId = more.documentId ?? `doc${key}`;
  return {
    id: `${documentId}#0`,
    key,
    store: 'passages',
    documentId,
    title: `Title ${key}`,
    text,
    start: 0,
    end: text.length,
    source: 'fake',
    ...more,
  };
}
