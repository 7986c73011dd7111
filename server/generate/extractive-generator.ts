import {
  ANSWER_PREFIX,
  choiceLetter,
  evidenceLine,
  INSUFFICIENT_EVIDENCE,
  OPTION_PREFIX,
} from '../../shared/answer-forms.js';
import { splitSentences } from '../../shared/sentences.js';
import { AuscultError, isAbort } from '../errors.js';
import type { TextEncoder } from '../encode/text-encoder.js';
import type { Prompt } from '../prompt/prompt.js';
import { abortedError, untilAborted } from './abort.js';
import { labelsOf } from './citations.js';
import type { AnswerChunk, Generator } from './generator.js';
import { polarityOf, soundsLikeFinding } from '../../shared/polarity.js';
import { cosine, pickSentences, type CandidateSentence } from './sentence-picker.js';

/**
 * Cosine below which the best sentence does not answer. `text`: question vectors of words; `speech`: of sound, which lie
 * lower and vary more. bench/abstention.ts prints the curve of `text` and the best threshold on held-out questions.
 */
export interface AbstentionThresholds {
  readonly text: number;
  readonly speech: number;
}

/** Provisional: chosen by hand, neither is measured yet. */
export const ABSTAIN_BELOW: AbstentionThresholds = { text: 0.5, speech: 0.3 };

export interface ExtractiveOptions {
  readonly textEncoder: TextEncoder;
  readonly abstainBelow?: Partial<AbstentionThresholds>;
  /** Sentences of an open answer at most, 1 and more. Default 3. */
  readonly sentences?: number;
  /** How far below the best sentence a further one may score; 0 quotes one sentence only. Default 0.12. */
  readonly slack?: number;
  /** Tokenizer for the prompt's budget; by default `estimateTokens`, which no language model reads. */
  readonly countTokens?: (text: string) => number;
}

/**
 * Answers with sentences of the visible evidence, verbatim, chosen by their vectors' nearness to the question's; declines below
 * a calibrated score. It cannot invent, and where the question is sound it needs no words of it.
 */
export function createExtractiveGenerator(options: ExtractiveOptions): Generator {
  const settings: Settings = {
    abstainBelow: { ...ABSTAIN_BELOW, ...options.abstainBelow },
    sentences: options.sentences ?? 3,
    slack: options.slack ?? 0.12,
    textEncoder: options.textEncoder,
  };
  return {
    id: 'extractive',
    countTokens: options.countTokens ?? estimateTokens,
    async *generate(prompt, signal) {
      for (const chunk of await answer(prompt, settings, signal)) {
        if (signal.aborted) throw abortedError(signal.reason);
        yield chunk;
      }
    },
    async close() {},
  };
}

/**
 * Tokens of a text by a rule: a run of letters or digits is one per four characters, every other visible character one. On
 * English text it lies above sub-word tokenizers, so a budget kept by it is kept.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const [run] of text.matchAll(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu)) tokens += Math.ceil(run.length / 4);
  return tokens;
}

interface Settings {
  readonly abstainBelow: AbstentionThresholds;
  readonly sentences: number;
  readonly slack: number;
  readonly textEncoder: TextEncoder;
}

async function answer(prompt: Prompt, settings: Settings, signal: AbortSignal): Promise<AnswerChunk[]> {
  try {
    const candidates = await untilAborted(readSentences(prompt, settings, signal), signal);
    const best = Math.max(-1, ...candidates.map(({ score }) => score));
    const least = prompt.question === null ? settings.abstainBelow.speech : settings.abstainBelow.text;
    if (best < least) return [abstention()];
    if (prompt.contract === 'exam')
      return await untilAborted(chooseOption(prompt, candidates, settings, signal), signal);
    if (prompt.contract === 'yes_no_maybe') return [yesNoMaybe(candidates, settings)];
    return quoteSentences(prompt, candidates, {
      ...settings,
      atLeast: Math.max(least, best - settings.slack),
    });
  } catch (thrown) {
    if (signal.aborted || isAbort(thrown)) throw abortedError(thrown);
    if (thrown instanceof AuscultError && thrown.code === 'generator_failed') throw thrown;
    throw new AuscultError('generator_failed', {
      message: 'The evidence could not be compared with the question; see the cause.',
      cause: thrown,
      retryable: true,
    });
  }
}

function abstention(): AnswerChunk {
  return { text: INSUFFICIENT_EVIDENCE, evidenceIds: [], abstained: true };
}

/** Sentences that state something: a spoken question in store A is near to every question like it and answers none. */
async function readSentences(
  prompt: Prompt,
  { textEncoder }: Settings,
  signal: AbortSignal,
): Promise<CandidateSentence[]> {
  const found = prompt.visible.flatMap(({ id, snippet }) =>
    splitSentences(snippet)
      .filter(({ text }) => !text.endsWith('?') && /\S\s+\S+\s+\S/.test(text))
      .map(({ text }) => ({ evidenceId: id, text })),
  );
  if (found.length === 0) return [];
  const vectors = await textEncoder.encode(
    found.map(({ text }) => text),
    'passage',
    signal,
  );
  return found.flatMap((sentence, index) => {
    const vector = vectors[index];
    return vector === undefined
      ? []
      : [{ ...sentence, vector, score: cosine(vector, prompt.questionVector) }];
  });
}

function quoteSentences(
  prompt: Prompt,
  candidates: readonly CandidateSentence[],
  settings: Settings & { readonly atLeast: number },
): AnswerChunk[] {
  const picked = pickSentences(candidates, {
    count: settings.sentences,
    atLeast: settings.atLeast,
    relevanceWeight: 0.7,
    redundantAbove: 0.92,
  });
  const ids = picked.map(({ evidenceId }) => evidenceId);
  return [
    { text: ANSWER_PREFIX, evidenceIds: [] },
    ...picked.map(({ text, evidenceId }, index) => ({
      // A snippet may end in mid-sentence; the dots say so, the quote stays verbatim.
      text: `${index > 0 ? ' ' : ''}${text}${/[.!?…]["'’”)\]]*$/.test(text) ? '' : ' …'}`,
      evidenceIds: [evidenceId],
      quote: text,
    })),
    { text: evidenceLine(labelsOf(ids, prompt.visible)), evidenceIds: [] },
  ];
}

/** The option which, read together with the question, lies nearest to a sentence of the evidence. */
async function chooseOption(
  prompt: Prompt,
  candidates: readonly CandidateSentence[],
  { textEncoder }: Settings,
  signal: AbortSignal,
): Promise<AnswerChunk[]> {
  if (prompt.choices.length === 0) return [abstention()];
  const hypotheses = prompt.choices.map((choice) =>
    prompt.question === null ? choice : `${lastSentence(prompt.question)} ${choice}`,
  );
  const vectors = await textEncoder.encode(hypotheses, 'query', signal);
  let best: { fit: number; index: number; sentence: CandidateSentence } | null = null;
  for (const [index, vector] of vectors.entries()) {
    for (const sentence of candidates) {
      const fit = cosine(vector, sentence.vector);
      if (best === null || fit > best.fit) best = { fit, index, sentence };
    }
  }
  if (best === null) return [abstention()];
  const { evidenceId, text } = best.sentence;
  return [{ text: OPTION_PREFIX + choiceLetter(best.index), evidenceIds: [evidenceId], quote: text }];
}

/** A vignette's task stands in its last sentence; the whole would drown the option. */
function lastSentence(question: string): string {
  return splitSentences(question).at(-1)?.text ?? question;
}

/** Polarity of the findings near the question, each weighted by its score; the heaviest one is quoted. */
function yesNoMaybe(candidates: readonly CandidateSentence[], { slack }: Settings): AnswerChunk {
  const findings = candidates.filter(({ text }) => soundsLikeFinding(text));
  const pool = findings.length > 0 ? findings : candidates;
  const best = Math.max(...pool.map(({ score }) => score));
  const near = pool.filter(({ score }) => score >= best - slack);
  const weights = { yes: 0, no: 0, maybe: 0 };
  for (const { text, score } of near) weights[polarityOf(text)] += Math.max(0, score);
  const verdict = (['yes', 'no', 'maybe'] as const).reduce((a, b) => (weights[b] > weights[a] ? b : a));
  const quoted = near.filter(({ text }) => polarityOf(text) === verdict).sort((a, b) => b.score - a.score)[0];
  return {
    text: ANSWER_PREFIX + verdict,
    evidenceIds: quoted === undefined ? [] : [quoted.evidenceId],
    ...(quoted === undefined ? {} : { quote: quoted.text }),
  };
}
