import type { StoreName } from '../../shared/evidence.js';
import type { PassageClip } from './passage-store.js';

/** A passage on its way into the index. */
export interface NewPassage {
  /** Stable id: document id + '#' + number. */
  readonly id: string;
  readonly text: string;
  /** Character span in the document. */
  readonly start: number;
  readonly end: number;
  readonly clip?: PassageClip;
  /** Unit vectors: one for a text, one a window for sound. */
  readonly vectors: readonly Float32Array[];
}

/** A document on its way into the index, whole: it becomes visible with all its passages or not at all. */
export interface NewDocument {
  readonly id: string;
  readonly title: string;
  readonly url?: string;
  /** Where it was ingested from: corpus name or path. */
  readonly source: string;
  /** Hash of everything that its passages and vectors depend on. */
  readonly contentHash: string;
  readonly passages: readonly NewPassage[];
}

export interface Publication {
  /** Counts changes of the store; unchanged when there was nothing to publish. */
  readonly generation: number;
  readonly documents: number;
  readonly replaced: number;
}

/**
 * PORT. The writing side of the passages and their vectors.
 * Contract: `hashOf` gives the content hash of a document, staged before published, null when unknown; staged documents survive
 * a crash and are invisible to readers until `publish` shows all of a store at once, replacing those of the same id; `remove`
 * takes documents away at once, published or staged, and says how many there were.
 */
export interface PassageIndex {
  hashOf(store: StoreName, documentId: string): string | null;
  stage(store: StoreName, documents: readonly NewDocument[]): void;
  publish(store: StoreName): Publication;
  remove(store: StoreName, documentIds: readonly string[]): number;
}
