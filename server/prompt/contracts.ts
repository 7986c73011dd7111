import {
  ANSWER_PREFIX,
  answerBody,
  choiceLetter,
  INSUFFICIENT_EVIDENCE,
  labelIndex,
  OPTION_PREFIX,
} from '../../shared/answer-forms.js';
import type { ContractName } from '../../shared/protocol.js';

/** What a contract's parser read. Exactly one of the three kinds; `invalid` counts as wrong and is never repaired. */
export type ParsedAnswer =
  | {
      readonly kind: 'answer';
      /** Text of an open answer; letter of an exam answer; yes, no or maybe. */
      readonly value: string;
      /** Evidence labels of an open answer as written, unresolved. */
      readonly labels: readonly string[];
    }
  | { readonly kind: 'abstained' }
  | { readonly kind: 'invalid'; readonly reason: string };

/** Form, parser and scorer of one kind of answer. */
export interface AnswerContract {
  readonly name: ContractName;
  /** Longest answer, tokens. */
  readonly maxTokens: number;
  /** What a language model is told about the form. */
  readonly instruction: string;
  /** Total: any text gives a ParsedAnswer. `choices` is how many there are; 0 when they are not known. */
  parse(answer: string, choices: number): ParsedAnswer;
}

const VERDICTS = ['yes', 'no', 'maybe'] as const;
const WRONG_FORM = (form: string): ParsedAnswer => ({
  kind: 'invalid',
  reason: `The answer is not of the form "${form}".`,
});

/** `Answer: …` and a last line `Evidence: [E1, E2]`, or `insufficient evidence`. */
export function parseOpen(answer: string): ParsedAnswer {
  if (saysInsufficient(answer)) return { kind: 'abstained' };
  const form = /^\s*answer:\s*([\s\S]*?)\s*\bevidence:\s*\[([^[\]]*)\]\s*$/i.exec(answer);
  const value = form?.[1]?.trim() ?? '';
  if (form === null || value === '') return WRONG_FORM(`${ANSWER_PREFIX}… Evidence: [E1]`);
  if (saysInsufficient(value)) return { kind: 'abstained' };
  const labels = (form[2] ?? '').split(',').map((label) => label.trim());
  const malformed = labels.find((label) => labelIndex(label) === null);
  if (malformed !== undefined)
    return { kind: 'invalid', reason: 'The evidence line names something that is no label.' };
  return { kind: 'answer', value, labels: [...new Set(labels)] };
}

/** `Correct Option: X` and nothing else; X a capital letter among the choices. */
export function parseExam(answer: string, choices = 0): ParsedAnswer {
  if (saysInsufficient(answer)) return { kind: 'abstained' };
  const letter = /^\s*correct option:\s*([A-L])\.?\s*$/i.exec(answer)?.[1];
  if (letter === undefined || letter !== letter.toUpperCase()) return WRONG_FORM(`${OPTION_PREFIX}X`);
  if (choices > 0 && letter.charCodeAt(0) - 65 >= choices)
    return {
      kind: 'invalid',
      reason: `There is no option ${letter}; the last one is ${choiceLetter(choices - 1)}.`,
    };
  return { kind: 'answer', value: letter, labels: [] };
}

/** `Answer: yes`, `no` or `maybe`, and nothing else. */
export function parseYesNoMaybe(answer: string): ParsedAnswer {
  if (saysInsufficient(answer)) return { kind: 'abstained' };
  const word = /^\s*answer:\s*(yes|no|maybe)\.?\s*$/i.exec(answer)?.[1]?.toLowerCase();
  return word === undefined
    ? WRONG_FORM(`${ANSWER_PREFIX}yes|no|maybe`)
    : { kind: 'answer', value: word, labels: [] };
}

/** Whole text equal to the abstention, give or take case, the prefix and a full stop. */
function saysInsufficient(answer: string): boolean {
  return (
    answer
      .replace(/^\s*answer:/i, '')
      .trim()
      .replace(/\.$/, '')
      .toLowerCase() === INSUFFICIENT_EVIDENCE
  );
}

export const CONTRACTS: Readonly<Record<ContractName, AnswerContract>> = {
  open: {
    name: 'open',
    maxTokens: 160,
    instruction:
      'Reply in one to three sentences that say only what the evidence says, then name what you used:\n' +
      'Answer: <sentences>\nEvidence: [E1, E2]\n' +
      `If the evidence does not answer, reply exactly: ${INSUFFICIENT_EVIDENCE}`,
    parse: (answer) => parseOpen(answer),
  },
  exam: {
    name: 'exam',
    maxTokens: 24,
    instruction: `Reply with one line and nothing else, X being the letter of the best choice:\n${OPTION_PREFIX}X`,
    parse: parseExam,
  },
  yes_no_maybe: {
    name: 'yes_no_maybe',
    maxTokens: 24,
    instruction: `Reply with one line and nothing else:\n${ANSWER_PREFIX}${VERDICTS.join('|')}`,
    parse: (answer) => parseYesNoMaybe(answer),
  },
};

/**
 * Whether a parsed answer is the gold one. Labels (letters, yes/no/maybe) compare by equality after trimming and case folding:
 * INCORRECT never counts as CORRECT because it contains it. Invalid and abstained answers are wrong.
 * An open answer is right when its normalised text equals the gold text's; grading paraphrases is a judge's work.
 */
export function scoreAnswer(parsed: ParsedAnswer, gold: string): boolean {
  return parsed.kind === 'answer' && normalise(parsed.value) === normalise(gold);
}

/** The wire's view of a parsed answer. */
export function describeParsed(parsed: ParsedAnswer): {
  readonly parsed: string | null;
  readonly valid: boolean;
  readonly abstained: boolean;
} {
  return {
    parsed: parsed.kind === 'answer' ? parsed.value : null,
    valid: parsed.kind !== 'invalid',
    abstained: parsed.kind === 'abstained',
  };
}

/** Parsed value of an open answer or its body when the form is broken: what may be shown and spoken. */
export function readableAnswer(contract: ContractName, answer: string): string {
  return answerBody(contract, answer).text;
}

function normalise(label: string): string {
  return label.trim().replace(/\s+/g, ' ').toLowerCase();
}
