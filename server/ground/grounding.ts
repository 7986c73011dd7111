import type { Contrast, Correction, EvidenceItem, Mention } from '../../shared/evidence.js';

export interface GroundingInput {
  readonly evidence: readonly EvidenceItem[];
  /** The question's words, where a text query exists. */
  readonly queryText?: string;
}

/** What may be done about a word: every proposal is traced with the query that consumed it. */
export interface Proposal {
  readonly from: string;
  readonly to: string;
  readonly termId: string;
  readonly phonetic: number;
  readonly edit: number;
  readonly semantic: number;
  /** Calibrated combination, 0 … 1. */
  readonly score: number;
  readonly accepted: boolean;
  readonly reason: string;
}

export interface Grounding {
  readonly mentions: readonly Mention[];
  /** Accepted proposals, as shown. */
  readonly corrections: readonly Correction[];
  readonly proposals: readonly Proposal[];
  /** At most 8. */
  readonly contrasts: readonly Contrast[];
  /** Why the evidence may miss the point; null when nothing says so. */
  readonly gap: string | null;
}

/** Entities, corrections and contrasts of a round. */
export interface Grounder {
  ground(input: GroundingInput, signal?: AbortSignal): Promise<Grounding>;
}
