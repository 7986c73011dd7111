import type { AnswerChunk } from '../generate/generator.js';
import type { Prompt } from '../prompt/prompt.js';
import type { SupportLabel } from '../../shared/evidence.js';

/** An answer as its contract's parser read it. */
export interface JudgedAnswer {
  readonly text: string;
  readonly chunks: readonly AnswerChunk[];
  /** Null when the answer is invalid or abstained. */
  readonly parsed: string | null;
  readonly abstained: boolean;
}

export interface Verdict {
  readonly label: SupportLabel;
  readonly evidenceIds: readonly string[];
  readonly reason: string;
}

/**
 * PORT. Says whether an answer is supported by the evidence that was visible.
 * Contract: total: always a verdict; what cannot be judged is UNSUPPORTED with the reason; labels compare by equality; only
 * visible evidence is named; an aborted signal alone rejects, with `aborted`.
 */
export interface Judge {
  readonly id: string;
  judge(answer: JudgedAnswer, prompt: Prompt, signal: AbortSignal): Promise<Verdict>;
}
