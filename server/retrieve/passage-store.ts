import type { StoreName } from '../../shared/evidence.js';

/** A part of a recording that can be played. */
export interface PassageClip {
  readonly recordingId: string;
  /** File of the recording, relative to the data folder or absolute. */
  readonly audioPath: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly speaker?: string;
  readonly previousId?: string;
  readonly nextId?: string;
}

/** One passage of store D, or one spoken item of store A with its reference text. */
export interface Passage {
  /** Stable id, unique in its store: document id + '#' + number of the passage. */
  readonly id: string;
  /** Key in the vector store. */
  readonly key: number;
  readonly store: StoreName;
  readonly documentId: string;
  readonly title: string;
  readonly text: string;
  readonly url?: string;
  /** Character span of the text in its document. */
  readonly start: number;
  readonly end: number;
  /** Where it was ingested from: corpus name or path. */
  readonly source: string;
  readonly clip?: PassageClip;
}

/**
 * PORT. What the keys of a vector store stand for.
 * Contract: `byKeys` answers in the order asked and leaves out unknown keys; `byId` gives null for an unknown id.
 */
export interface PassageStore {
  readonly size: number;
  byKeys(store: StoreName, keys: readonly number[]): Passage[];
  byId(id: string): Passage | null;
  close(): void;
}
