import type { Contrast, Correction, Mention, QuerySource } from '../../shared/evidence.js';
import type {
  Citation,
  ContractName,
  QueryMode,
  StopReason,
  Support,
  TurnTimings,
} from '../../shared/protocol.js';

/** One query as it was run, and the proposals that went into it. */
export interface QueryTrace {
  readonly source: QuerySource;
  /** Absent in mode `speech`: there are no words. */
  readonly text?: string;
  readonly windows: number;
  readonly weight: number;
  /** Vectors, base64 of float32, so that retrieval can be run again. */
  readonly vectors: readonly string[];
  /** Proposals, contrast terms and answer terms consumed by this query. */
  readonly consumes: readonly string[];
}

export interface HitTrace {
  readonly id: string;
  readonly store: string;
  readonly rank: number;
  readonly rawScore: number;
  readonly score: number;
  readonly window: number | null;
}

export interface ProposalTrace {
  readonly from: string;
  readonly to: string;
  readonly score: number;
  readonly accepted: boolean;
  readonly reason: string;
}

export interface RoundTrace {
  readonly round: number;
  readonly queries: readonly QueryTrace[];
  readonly hits: readonly HitTrace[];
  readonly bestScore: number;
  readonly mentions: readonly Mention[];
  readonly proposals: readonly ProposalTrace[];
  readonly corrections: readonly Correction[];
  readonly contrasts: readonly Contrast[];
  /** Snippets as shown to the generator; empty when the round was not generated. */
  readonly visible: ReadonlyArray<{ readonly id: string; readonly snippet: string }>;
  readonly dropped: ReadonlyArray<{ readonly id: string; readonly reason: string }>;
  readonly promptHash: string | null;
  readonly promptTokens: number | null;
  readonly answer: string | null;
  readonly support: Support | null;
  /** Why the round was not generated. */
  readonly skipped: string | null;
}

/** The whole of one turn: enough to follow it and to run its retrieval again. */
export interface TurnTrace {
  readonly traceId: string;
  readonly turnId: string;
  readonly sessionId: string;
  /** Manifest of the run that made it. */
  readonly runId: string;
  readonly startedWallMs: number;
  readonly source: 'speech' | 'text';
  /** SHA-256 of the utterance's samples; null for a typed question. */
  readonly audioId: string | null;
  readonly audioMs: number | null;
  readonly windows: ReadonlyArray<{ readonly startMs: number; readonly endMs: number }>;
  readonly queryMode: QueryMode;
  readonly contract: ContractName;
  readonly retrieval: { readonly k: number; readonly fusion: string; readonly maxRounds: number };
  readonly rounds: readonly RoundTrace[];
  readonly calls: {
    readonly generate: number;
    readonly judge: number;
    readonly retrieve: number;
    readonly encode: number;
  };
  readonly answer: string | null;
  readonly parsed: string | null;
  readonly citations: readonly Citation[];
  readonly stopReason: StopReason;
  readonly timings: TurnTimings;
  readonly events: ReadonlyArray<{ readonly type: string; readonly atMs: number }>;
}
