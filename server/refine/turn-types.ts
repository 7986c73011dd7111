import type { Contrast, EvidenceItem } from '../../shared/evidence.js';
import type {
  Citation,
  ContractName,
  OutgoingEvent,
  QueryMode,
  RetrievalSettings,
  RoundTiming,
  StopReason,
  Support,
} from '../../shared/protocol.js';
import type { RejectionReason } from '../../shared/error-codes.js';
import type { AuscultError } from '../errors.js';
import type { EncodedWindow } from '../encode/speech-encoder.js';
import type { Transcript } from '../encode/transcriber.js';
import type { AnswerChunk } from '../generate/generator.js';
import type { Grounding } from '../ground/grounding.js';
import type { Prompt } from '../prompt/prompt.js';
import type { Query, Retrieval } from '../retrieve/retriever.js';

/** What is asked: windows of sound, or words. */
export type Question =
  | {
      readonly kind: 'speech';
      readonly windows: ReadonlyArray<{ readonly startMs: number; readonly endMs: number }>;
      /** Samples at 16 kHz, one array a window. */
      readonly samples: readonly Float32Array[];
      /** The speculative encoding of exactly these windows, when it was made. */
      readonly encoded: Promise<EncodedWindow[]> | null;
    }
  | { readonly kind: 'text'; readonly text: string };

export interface TurnInput {
  readonly turnId: string;
  readonly queryMode: QueryMode;
  readonly contract: ContractName;
  readonly choices: readonly string[];
  readonly retrieval: RetrievalSettings;
  /** Evidence that must not be returned; benchmarks leave out the asked question itself. */
  readonly excludeIds?: ReadonlySet<string>;
  /** Entities and contrasts, on unless a benchmark switches them off. */
  readonly grounding: boolean;
  /** Longest time from question to the end of the turn; 0 waits for ever. */
  readonly deadlineMs: number;
  readonly nowMs: () => number;
}

/** A query of a round with what it was made of. */
export interface RoundQuery {
  readonly query: Query;
  readonly consumes: readonly string[];
}

export interface Answer {
  readonly text: string;
  readonly chunks: readonly AnswerChunk[];
  readonly parsed: string | null;
  readonly valid: boolean;
  readonly abstained: boolean;
  /** Why the answer must not be shown; null when it may. */
  readonly withheld: string | null;
  readonly citations: readonly Citation[];
}

/** One round as far as it got. */
export interface Round {
  readonly round: number;
  readonly queries: readonly RoundQuery[];
  readonly retrieval: Retrieval | null;
  readonly grounding: Grounding | null;
  readonly prompt: Prompt | null;
  readonly answer: Answer | null;
  readonly support: Support | null;
  readonly skipped: string | null;
  readonly timing: RoundTiming;
}

export interface Encoding {
  readonly query: Query;
  readonly encoded: readonly EncodedWindow[];
  readonly encodeMs: number;
  readonly speculative: boolean;
}

/** Words for the next round; the retrieve actor gives them their vector. */
export interface Feedback {
  readonly text: string;
  readonly consumes: readonly string[];
}

export interface Notice {
  readonly kind: 'emergency' | 'self_harm';
  readonly message: string;
}

// ------------------------------------------------------------------ what the actors take and give

export interface EncodeInput {
  readonly question: Question;
  readonly queryMode: QueryMode;
}
export interface RetrieveInput {
  readonly queries: readonly RoundQuery[];
  readonly turn: TurnInput;
}
export interface RetrieveOutput {
  /** The queries as they ran, with the vectors of those that came as words. */
  readonly queries: readonly RoundQuery[];
  readonly retrieval: Retrieval;
}
export interface TranscribeInput {
  readonly encoded: readonly EncodedWindow[];
}
export interface TranscribeOutput {
  readonly transcribeMs: number;
  readonly transcript: Transcript;
  /** Null when nothing was understood. */
  readonly query: RoundQuery | null;
}
export interface GroundInput {
  readonly evidence: readonly EvidenceItem[];
  readonly queryText: string | null;
  readonly questionVector: Float32Array;
  readonly enabled: boolean;
}
export interface GroundOutput {
  readonly grounding: Grounding;
  readonly notice: Notice | null;
  readonly groundMs: number;
}
export interface PromptOutput {
  readonly prompt: Prompt;
  readonly promptMs: number;
}
export interface PromptActorInput {
  readonly turn: TurnInput;
  readonly queryText: string | null;
  readonly questionVector: Float32Array;
  readonly evidence: readonly EvidenceItem[];
  readonly contrasts: readonly Contrast[];
}
export interface GenerateInput {
  readonly prompt: Prompt;
  readonly onChunk: (chunk: AnswerChunk) => void;
}
export interface GenerateOutput {
  readonly answer: Answer;
  readonly generateMs: number;
}
export interface JudgeInput {
  readonly answer: Answer;
  readonly prompt: Prompt;
}
export interface JudgeOutput {
  readonly support: Support;
  readonly judgeMs: number;
}

// ------------------------------------------------------------------ the machine's own words

export type TurnEvent =
  | { readonly type: 'question'; readonly question: Question }
  | { readonly type: 'reject'; readonly reason: RejectionReason; readonly message: string }
  | { readonly type: 'cancel'; readonly reason: string; readonly replyTo?: string }
  | { readonly type: 'chunk'; readonly chunk: AnswerChunk };

export interface TurnContext {
  readonly turn: TurnInput;
  readonly question: Question | null;
  readonly startedMs: number;
  readonly encoding: Encoding | null;
  readonly transcript: Transcript | null;
  /** The first query and, with words, the second: what every later round adds to. */
  readonly queries: readonly RoundQuery[];
  readonly rounds: readonly Round[];
  /** Feedback prepared for the round being run. */
  readonly feedback: Feedback | null;
  readonly notice: Notice | null;
  readonly firstEvidenceMs: number | null;
  readonly firstAnswerMs: number | null;
  readonly stopReason: StopReason | null;
  readonly failure: AuscultError | null;
  readonly calls: {
    readonly encode: number;
    readonly retrieve: number;
    readonly generate: number;
    readonly judge: number;
  };
}

/** What the machine says to the outside: protocol events, without stamps. */
export type TurnEmission = OutgoingEvent;
