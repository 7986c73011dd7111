import type { AnswerChunk } from '../generate/generator.js';
import type { Prompt } from '../prompt/prompt.js';
import type { SupportLabel } from '../../shared/evidence.js';

export interface Verdict {
  readonly label: SupportLabel;
  readonly evidenceIds: readonly string[];
  readonly reason: string;
}

/**
 * PORT. Says whether an answer is supported by the evidence that was visible.
 * Contract: total: always a verdict; what cannot be judged is UNSUPPORTED with the reason; labels compare by equality.
 */
export interface Judge {
  readonly id: string;
  judge(
    answer: { readonly text: string; readonly chunks: readonly AnswerChunk[] },
    prompt: Prompt,
    signal: AbortSignal,
  ): Promise<Verdict>;
}
