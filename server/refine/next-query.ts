import { answerBody, INSUFFICIENT_EVIDENCE } from '../../shared/answer-forms.js';
import type { ContractName } from '../../shared/protocol.js';
import type { Grounding } from '../ground/grounding.js';
import type { Feedback } from './turn-types.js';

export interface NextQueryInput {
  readonly contract: ContractName;
  /** The question's words; null in mode `speech`. */
  readonly queryText: string | null;
  readonly grounding: Grounding | null;
  /** The answer of the round as generated; null when it abstained. */
  readonly answer: string | null;
  /** Texts of all queries of earlier rounds; empty strings for sound. */
  readonly previous: readonly string[];
}

/** Terms taken from one round at most; more than this drowns the question. */
export const FEEDBACK_TERMS = { answer: 5, contrasts: 4, proposals: 4 } as const;

interface Term {
  readonly term: string;
  /** What the trace says of it. */
  readonly consumed: string;
}

/**
 * Words for one more round: accepted corrections, terms that the evidence contrasts, and what the answer talks about beyond the
 * question. Pure. Null when there is nothing to ask that was not asked: an exam answer, a bare letter or yes/no, or terms that
 * the question or an earlier query holds already. Each consumed thing is named, for example
 * `proposal:hypertensoin→hypertension`, `contrast:hypertension/hypotension`, `answer:thiazide`.
 *
 * The text is a query of its own; the caller adds it to the question's queries with a weight below 1 and replaces none.
 */
export function nextQuery(input: NextQueryInput): Feedback | null {
  if (input.contract === 'exam') return null;
  const body = input.answer === null ? null : answerBody(input.contract, input.answer).text;
  if (body !== null && isBareLabel(body)) return null;
  const asked = [input.queryText ?? '', ...input.previous].map(words).filter((list) => list.length > 0);
  const terms = [
    ...proposalTerms(input.grounding),
    ...contrastTerms(input.grounding, input.queryText ?? ''),
    ...answerTerms(input.grounding, body),
  ].filter(({ term }) => !asked.some((list) => containsRun(list, words(term))));
  const unique = terms.filter(
    ({ term }, index) => terms.findIndex((other) => sameTerm(other.term, term)) === index,
  );
  if (unique.length === 0) return null;
  return {
    text: [correctedQuestion(input), ...missingFrom(correctedQuestion(input), unique)]
      .filter(Boolean)
      .join(' '),
    consumes: unique.map(({ consumed }) => consumed),
  };
}

/** A letter, yes, no, maybe or the abstention, with or without the contracts' prefixes: nothing to search for. */
function isBareLabel(answer: string): boolean {
  const bare = answer
    .replace(/^\s*(?:answer|correct option):/i, '')
    .trim()
    .replace(/\.$/, '')
    .toLowerCase();
  return /^[a-z]?$/.test(bare) || ['yes', 'no', 'maybe', INSUFFICIENT_EVIDENCE].includes(bare);
}

function proposalTerms(grounding: Grounding | null): Term[] {
  return (grounding?.proposals ?? [])
    .filter(({ accepted }) => accepted)
    .slice(0, FEEDBACK_TERMS.proposals)
    .map(({ from, to }) => ({ term: to, consumed: `proposal:${from}→${to}` }));
}

/** Of a contrast with one side in the question the other side is asked for; without words both are. */
function contrastTerms(grounding: Grounding | null, queryText: string): Term[] {
  const asked = words(queryText);
  return (grounding?.contrasts ?? [])
    .filter(({ kind }) => kind !== 'co-mentioned')
    .flatMap(({ a, b }) => {
      const sides = [a, b].filter((side) => !containsRun(asked, words(side)));
      return sides.map((term) => ({ term, consumed: `contrast:${a}/${b}` }));
    })
    .slice(0, FEEDBACK_TERMS.contrasts);
}

/** Entities that the answer names; where the term list knows none, its longest content words. */
function answerTerms(grounding: Grounding | null, body: string | null): Term[] {
  if (body === null) return [];
  const spoken = words(body);
  const named = [...new Set((grounding?.mentions ?? []).map(({ term }) => term))].filter((term) =>
    containsRun(spoken, words(term)),
  );
  const found = named.length > 0 ? named : longestWords(spoken);
  return found.slice(0, FEEDBACK_TERMS.answer).map((term) => ({ term, consumed: `answer:${term}` }));
}

/** Words of seven letters and more, longest first, ties as spoken: short words are rarely what an answer is about. */
function longestWords(spoken: readonly string[]): string[] {
  return [...new Set(spoken)]
    .filter((word) => word.length >= 7 && /^\p{L}+$/u.test(word))
    .sort((a, b) => b.length - a.length);
}

/** The question with accepted corrections in place of the misspelt words. */
function correctedQuestion({ queryText, grounding }: NextQueryInput): string {
  let text = queryText ?? '';
  for (const { from, to, accepted } of grounding?.proposals ?? []) {
    if (!accepted || from === '') continue;
    const at = text.toLowerCase().indexOf(from.toLowerCase());
    if (at >= 0) text = text.slice(0, at) + to + text.slice(at + from.length);
  }
  return text.trim();
}

function missingFrom(text: string, terms: readonly Term[]): string[] {
  const present = words(text);
  return terms.map(({ term }) => term).filter((term) => !containsRun(present, words(term)));
}

function sameTerm(a: string, b: string): boolean {
  return words(a).join(' ') === words(b).join(' ');
}

function containsRun(list: readonly string[], run: readonly string[]): boolean {
  if (run.length === 0) return true;
  return list.some((_, at) => run.every((word, offset) => list[at + offset] === word));
}

function words(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
