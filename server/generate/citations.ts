import { answerBody, evidenceLabel, labelIndex } from '../../shared/answer-forms.js';
import type { Citation, ContractName } from '../../shared/protocol.js';
import { splitSentences } from '../../shared/sentences.js';
import type { VisibleEvidence } from '../prompt/prompt.js';
import type { AnswerChunk } from './generator.js';

export interface CitedAnswer {
  readonly contract: ContractName;
  readonly chunks: readonly AnswerChunk[];
  readonly visible: readonly VisibleEvidence[];
}

export interface ResolvedCitations {
  readonly citations: readonly Citation[];
  /** Ids of chunks and labels of the evidence line that no visible evidence has; dropped. */
  readonly unknownIds: readonly string[];
  /** Citations dropped because the quote is not in the evidence, or because no sentence of it shares a word with the answer's. */
  readonly unverified: number;
}

/**
 * Which sentence of an answer rests on which words of the visible evidence. A chunk with text of its own cites for its
 * sentences; the ids of the evidence line (or of a chunk without words) count for every sentence that has none. A quote is
 * always verbatim from the visible snippet: the chunk's own, checked, or the snippet's sentence sharing most words.
 * `start` and `end` are characters of the joined answer.
 */
export function resolveCitations({ contract, chunks, visible }: CitedAnswer): ResolvedCitations {
  const answer = chunks.map(({ text }) => text).join('');
  const body = answerBody(contract, answer);
  const placed = placeChunks(chunks);
  const inBody = placed.filter(
    ({ start, chunk }) => start < body.start + body.text.length && chunk.text.trim() !== '',
  );
  const trailing = placed.filter((item) => !inBody.includes(item)).flatMap(({ chunk }) => chunk.evidenceIds);
  const byId = new Map(visible.map((item) => [item.id, item]));
  const unknownIds = [
    ...new Set(chunks.flatMap(({ evidenceIds }) => evidenceIds).filter((id) => !byId.has(id))),
    ...resolveLabels(contract === 'open' ? writtenLabels(answer) : [], visible).unknown,
  ];
  const citations: Citation[] = [];
  let unverified = 0;
  for (const sentence of splitSentences(body.text)) {
    const span = { start: sentence.start + body.start, end: sentence.end + body.start };
    const own = inBody.filter(
      ({ start, end, chunk }) => start < span.end && end > span.start && chunk.evidenceIds.length > 0,
    );
    const claims =
      own.length > 0 ? own.flatMap(({ chunk }) => claimsOf(chunk)) : trailing.map((id) => ({ id }));
    for (const { id, quote } of uniqueById(claims)) {
      const evidence = byId.get(id);
      if (evidence === undefined) continue;
      const verbatim = verifiedQuote(evidence.snippet, sentence.text, quote);
      if (verbatim === null) unverified += 1;
      else citations.push({ evidenceId: id, quote: verbatim, ...span });
    }
  }
  return { citations, unknownIds, unverified };
}

/** What the last line of an open answer names, as written; empty without such a line. */
export function writtenLabels(answer: string): string[] {
  const line = /\bevidence:\s*\[([^[\]]*)\]\s*$/i.exec(answer)?.[1] ?? '';
  return line
    .split(',')
    .map((label) => label.trim())
    .filter((label) => label !== '');
}

/** Evidence ids of the labels that are visible, in order, and the labels that are not. */
export function resolveLabels(
  labels: readonly string[],
  visible: readonly VisibleEvidence[],
): { readonly ids: readonly string[]; readonly unknown: readonly string[] } {
  const ids: string[] = [];
  const unknown: string[] = [];
  for (const label of new Set(labels)) {
    const index = labelIndex(label);
    const id = index === null ? undefined : visible[index]?.id;
    if (id === undefined) unknown.push(label);
    else ids.push(id);
  }
  return { ids, unknown };
}

/** Labels of evidence ids, in the order of the prompt; ids that are not visible have none. */
export function labelsOf(ids: readonly string[], visible: readonly VisibleEvidence[]): string[] {
  return visible.flatMap((item, index) => (ids.includes(item.id) ? [evidenceLabel(index)] : []));
}

interface Claim {
  readonly id: string;
  readonly quote?: string | undefined;
}

function claimsOf(chunk: AnswerChunk): Claim[] {
  return chunk.evidenceIds.map((id) => ({ id, quote: chunk.quote }));
}

function uniqueById(claims: readonly Claim[]): Claim[] {
  return [...new Map(claims.map((claim) => [claim.id, claim])).values()];
}

function placeChunks(chunks: readonly AnswerChunk[]): { start: number; end: number; chunk: AnswerChunk }[] {
  let start = 0;
  return chunks.map((chunk) => {
    const placed = { start, end: start + chunk.text.length, chunk };
    start = placed.end;
    return placed;
  });
}

function verifiedQuote(snippet: string, claim: string, quote: string | undefined): string | null {
  if (quote !== undefined) return quote.trim() !== '' && snippet.includes(quote) ? quote : null;
  const wanted = contentWords(claim);
  let best: string | null = null;
  let bestShared = 0;
  for (const { text } of splitSentences(snippet)) {
    const shared = [...contentWords(text)].filter((word) => wanted.has(word)).length;
    if (shared > bestShared) {
      best = text;
      bestShared = shared;
    }
  }
  return best;
}

/** Words of four letters and more, and numbers: what two sentences must share to be about the same. */
function contentWords(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/\p{L}{4,}|\d+(?:[.,]\d+)?/gu) ?? []);
}
