import type { Prompt } from '../prompt/prompt.js';

/** A piece of an answer with the evidence it rests on. */
export interface AnswerChunk {
  readonly text: string;
  readonly evidenceIds: readonly string[];
  /** Verbatim words of the evidence, where the generator quotes. */
  readonly quote?: string;
  /** True when the generator declines to answer for want of evidence; the text is then the sentence that says so. */
  readonly abstained?: boolean;
}

/**
 * PORT. Prompt → answer, in chunks.
 * Contract: the texts of the chunks joined are the answer; an aborted signal ends the stream with `aborted` within 100 ms;
 * failures are `generator_failed` with `retryable` set; nothing but the prompt's visible evidence may be cited.
 */
export interface Generator {
  readonly id: string;
  /** Number of tokens by this generator's own tokenizer. */
  countTokens(text: string): number;
  generate(prompt: Prompt, signal: AbortSignal): AsyncIterable<AnswerChunk>;
  close(): Promise<void>;
}
