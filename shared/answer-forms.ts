import type { ContractName } from './protocol.js';

/** What a generator says instead of an answer when the evidence does not carry one. */
export const INSUFFICIENT_EVIDENCE = 'insufficient evidence';

/** Name of the n-th visible piece of evidence (zero-based) inside prompts and answers: E1, E2, … */
export function evidenceLabel(index: number): string {
  return `E${String(index + 1)}`;
}

/** Zero-based index that a label names, or null when it is no label. */
export function labelIndex(label: string): number | null {
  const digits = /^E([1-9]\d{0,2})$/.exec(label)?.[1];
  return digits === undefined ? null : Number(digits) - 1;
}

/** Letter of a choice (zero-based): A, B, … L. */
export function choiceLetter(index: number): string {
  return String.fromCharCode(65 + index);
}

/** Prefix of an answer of the contracts `open` and `yes_no_maybe`. */
export const ANSWER_PREFIX = 'Answer: ';
/** Prefix of an answer of the contract `exam`. */
export const OPTION_PREFIX = 'Correct Option: ';

/** Last line of an open answer. */
export function evidenceLine(labels: readonly string[]): string {
  return `\nEvidence: [${labels.join(', ')}]`;
}

/** The part of an answer that people read, and where it starts in the whole. */
export interface AnswerBody {
  readonly text: string;
  readonly start: number;
}

/**
 * An answer, whole or still streaming, without its frame: `Answer:` before and the evidence line after an open answer.
 * Total: a text without a frame is its own body.
 */
export function answerBody(contract: ContractName, answer: string): AnswerBody {
  if (contract !== 'open') return { text: answer, start: 0 };
  const start = /^\s*answer:\s*/i.exec(answer)?.[0].length ?? 0;
  const rest = answer.slice(start);
  const frame = /\s*(?:^|\s)evidence:\s*(?:\[[^\]]*\]?)?\s*$/i.exec(rest);
  return { text: frame === null ? rest.trimEnd() : rest.slice(0, frame.index).trimEnd(), start };
}
