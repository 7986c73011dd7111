import type { EvidenceItem, QuerySource } from '../../shared/evidence.js';
import type { RetrievalSettings } from '../../shared/protocol.js';

/** A query of one round. Vectors are unit length; a speech query has one vector a window. */
export interface Query {
  readonly source: QuerySource;
  readonly vectors: readonly Float32Array[];
  /** Present for every source but `speech`; turns on the hybrid branch. */
  readonly text?: string;
  /** Weight in the fusion of queries; 1 unless said otherwise. */
  readonly weight?: number;
}

export interface RetrievalRequest {
  readonly queries: readonly Query[];
  readonly settings: RetrievalSettings;
  /** Ids that must not be returned: benchmarks leave out the asked question itself. */
  readonly excludeIds?: ReadonlySet<string>;
}

export interface RetrievedHit {
  readonly id: string;
  readonly documentId: string;
  readonly store: 'speech' | 'passages';
  readonly source: QuerySource;
  readonly window: number | null;
  readonly rawScore: number;
  readonly normalisedScore: number;
}

export interface Retrieval {
  readonly items: readonly EvidenceItem[];
  /** Every candidate before merging, for the trace. */
  readonly hits: readonly RetrievedHit[];
  /** Best raw similarity of a query vector to a passage, what round n+1 must beat; −1 without any. */
  readonly bestScore: number;
  readonly timings: {
    readonly retrieveSpeechMs: number;
    readonly retrieveTextMs: number;
    readonly fuseMs: number;
  };
}

/** Queries → fused, merged, explained evidence from both stores. */
export interface Retriever {
  retrieve(request: RetrievalRequest, signal?: AbortSignal): Promise<Retrieval>;
}
