import { answerBody } from '../../shared/answer-forms.js';
import { polarityOf } from '../../shared/polarity.js';
import { splitSentences } from '../../shared/sentences.js';
import { AuscultError, isAbort } from '../errors.js';
import type { TextEncoder } from '../encode/text-encoder.js';
import type { Prompt, VisibleEvidence } from '../prompt/prompt.js';
import { compareClaim } from './agreement.js';
import type { Judge, JudgedAnswer, Verdict } from './judge.js';
import { unsafeReason } from './unsafe.js';

export interface HeuristicJudgeOptions {
  readonly textEncoder: TextEncoder;
  /** Cosine from which a sentence may carry a paraphrase, 0 … 1; 1 accepts verbatim words only. Default 0.72. */
  readonly agreeAbove?: number;
  /** Share of a paraphrase's content words that the sentence must have, 0 … 1. Default 0.45. */
  readonly coverAbove?: number;
}

interface Settings {
  readonly textEncoder: TextEncoder;
  readonly agreeAbove: number;
  readonly coverAbove: number;
}

/** What became of one claim. */
interface Finding {
  readonly state: 'supported' | 'contradicted' | 'unsupported';
  readonly evidenceId: string | null;
  readonly reason: string;
}

/**
 * Judges without a language model: a claim is supported when it stands verbatim in the visible evidence, or when a sentence of
 * it is near by vector and by words and does not differ in numbers, negation or direction. Rules for UNSAFE come first.
 */
export function createHeuristicJudge(options: HeuristicJudgeOptions): Judge {
  const settings = { agreeAbove: 0.72, coverAbove: 0.45, ...options };
  return {
    id: 'heuristic',
    async judge(answer, prompt, signal) {
      try {
        signal.throwIfAborted();
        return await verdictOf(answer, prompt, { ...settings, signal });
      } catch (thrown) {
        if (signal.aborted || isAbort(thrown))
          throw new AuscultError('aborted', { message: 'Judging was cancelled.', cause: thrown });
        return unsupported('The answer could not be compared with the evidence.');
      }
    },
  };
}

type Call = Settings & { readonly signal: AbortSignal };

async function verdictOf(answer: JudgedAnswer, prompt: Prompt, call: Call): Promise<Verdict> {
  const body = answerBody(prompt.contract, answer.text).text;
  const unsafe = unsafeReason(body);
  if (unsafe !== null) return { label: 'UNSAFE', evidenceIds: [], reason: unsafe };
  if (answer.abstained) return unsupported('The answer abstains: there is no claim to support.');
  if (answer.parsed === null) return unsupported('The answer does not have the form of its contract.');
  if (prompt.visible.length === 0) return unsupported('No evidence was visible.');
  if (prompt.contract === 'yes_no_maybe') return judgePolarity(answer, prompt, call);
  const claims =
    prompt.contract === 'exam'
      ? examClaims(answer.parsed, prompt)
      : splitSentences(body).map(({ text }) => text);
  if (claims.length === 0) return unsupported('The answer makes no claim.');
  return summarise(await examine(claims, prompt.visible, call));
}

/** The chosen option as a statement; none when the letter names no choice. */
function examClaims(letter: string, prompt: Prompt): string[] {
  const choice = prompt.choices[letter.charCodeAt(0) - 65];
  return choice === undefined ? [] : [choice];
}

async function examine(
  claims: readonly string[],
  visible: readonly VisibleEvidence[],
  call: Call,
): Promise<Finding[]> {
  const verbatim = claims.map((claim) => verbatimIn(claim, visible));
  const open = claims.filter((_, index) => verbatim[index] === null);
  if (open.length === 0) return verbatim.flatMap((id) => (id === null ? [] : [supported(id, 'verbatim')]));
  const sentences = visible.flatMap(({ id, snippet }) =>
    splitSentences(snippet).map(({ text }) => ({ id, text, snippet })),
  );
  const vectors = await call.textEncoder.encode(
    [...open, ...sentences.map(({ text }) => text)],
    'passage',
    call.signal,
  );
  return claims.map((claim, index) => {
    const id = verbatim[index] ?? null;
    if (id !== null) return supported(id, 'verbatim');
    const own = vectors[open.indexOf(claim)];
    const ranked = sentences
      .map((sentence, at) => ({ ...sentence, similarity: dot(own, vectors[open.length + at]) }))
      .sort((a, b) => b.similarity - a.similarity);
    return weigh(claim, ranked, call);
  });
}

/** The best sentences decide; a conflict with the nearest one that talks of the same outweighs support by a farther one. */
function weigh(
  claim: string,
  ranked: ReadonlyArray<{ id: string; text: string; snippet: string; similarity: number }>,
  { agreeAbove, coverAbove }: Settings,
): Finding {
  for (const { id, text, snippet, similarity } of ranked.slice(0, 3)) {
    const { coverage, missingNumbers, conflict } = compareClaim(claim, text, snippet);
    if (conflict !== null && similarity >= agreeAbove - 0.1)
      return {
        state: 'contradicted',
        evidenceId: id,
        reason: `It differs from the evidence in ${conflict}.`,
      };
    if (similarity >= agreeAbove && coverage >= coverAbove && missingNumbers.length === 0)
      return supported(id, 'paraphrase');
  }
  return { state: 'unsupported', evidenceId: null, reason: 'No sentence of the evidence says it.' };
}

function summarise(findings: readonly Finding[]): Verdict {
  const good = findings.filter(({ state }) => state === 'supported');
  const evidenceIds = [
    ...new Set(good.flatMap(({ evidenceId }) => (evidenceId === null ? [] : [evidenceId]))),
  ];
  if (good.length === findings.length)
    return { label: 'SUPPORTED', evidenceIds, reason: `Every claim is in the evidence (${reasons(good)}).` };
  const bad = reasons(findings.filter(({ state }) => state !== 'supported'));
  if (good.length === 0) return unsupported(bad);
  return { label: 'PARTIAL', evidenceIds, reason: bad };
}

/** Yes, no or maybe against the polarity of the cited quote, or of the sentence nearest to the question. */
async function judgePolarity(answer: JudgedAnswer, prompt: Prompt, call: Call): Promise<Verdict> {
  const sentences = prompt.visible.flatMap(({ id, snippet }) =>
    splitSentences(snippet).map(({ text }) => ({ id, text })),
  );
  const vectors = await call.textEncoder.encode(
    sentences.map(({ text }) => text),
    'passage',
    call.signal,
  );
  const scored = sentences.map((sentence, index) => ({
    ...sentence,
    similarity: dot(prompt.questionVector, vectors[index]),
  }));
  const quotes = new Set(answer.chunks.flatMap(({ quote }) => (quote === undefined ? [] : [quote])));
  const quoted = scored.filter(({ text }) => quotes.has(text));
  const [nearest] = (quoted.length > 0 ? quoted : scored).sort((a, b) => b.similarity - a.similarity);
  if (nearest === undefined) return unsupported('The evidence has no sentence.');
  const said = polarityOf(nearest.text);
  if (said !== answer.parsed)
    return unsupported(
      `The sentence nearest to the question says ${said}, the answer ${answer.parsed ?? 'nothing'}.`,
    );
  const near = nearest.similarity >= call.agreeAbove - 0.2;
  return {
    label: near ? 'SUPPORTED' : 'PARTIAL',
    evidenceIds: [nearest.id],
    reason: near
      ? 'A sentence near to the question says the same.'
      : 'A sentence says the same, but lies far from the question.',
  };
}

/** Id of the evidence that has the claim word for word, give or take white space, case and marks at its ends; else null. */
function verbatimIn(claim: string, visible: readonly VisibleEvidence[]): string | null {
  const bare = plain(claim);
  if (bare === '') return null;
  return visible.find(({ snippet }) => ` ${plain(snippet)} `.includes(` ${bare} `))?.id ?? null;
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/[.!?…;:,"'“”‘’()]+(?=\s|$)|(?<=\s|^)["'“”‘’(]+/gu, '')
    .trim();
}

function supported(evidenceId: string, how: 'verbatim' | 'paraphrase'): Finding {
  return { state: 'supported', evidenceId, reason: how };
}

function unsupported(reason: string): Verdict {
  return { label: 'UNSUPPORTED', evidenceIds: [], reason };
}

function reasons(findings: readonly Finding[]): string {
  return [...new Set(findings.map(({ reason }) => reason))].join(' ');
}

function dot(a: Float32Array | undefined, b: Float32Array | undefined): number {
  let sum = 0;
  if (a && b) for (let index = 0; index < a.length; index += 1) sum += (a[index] ?? 0) * (b[index] ?? 0);
  return sum;
}
