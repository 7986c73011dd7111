import { currentRound } from './round.js';
import type { Prompt } from '../prompt/prompt.js';
import type { RejectionReason } from '../../shared/error-codes.js';
import type { AnswerChunk } from '../generate/generator.js';
import type { Answer, Notice, Question, TurnContext, TurnEmission } from './turn-types.js';

/** What a turn says, made from its context; each function is one protocol event. */

const turnIdOf = (context: TurnContext) => context.turn.turnId;
const roundOf = (context: TurnContext) => ({ turnId: turnIdOf(context), round: currentRound(context).round });

export function started(context: TurnContext): TurnEmission {
  const question = questionOf(context);
  return {
    type: 'turn.started',
    turnId: turnIdOf(context),
    source: question.kind,
    queryMode: question.kind === 'text' ? 'text' : context.turn.queryMode,
    windows: question.kind === 'speech' ? [...question.windows] : [],
  };
}

export function evidence(context: TurnContext): TurnEmission {
  const { retrieval, queries } = currentRound(context);
  return {
    type: 'evidence',
    ...roundOf(context),
    items: [...(retrieval?.items ?? [])],
    sources: queries.map(({ query }) => query.source),
  };
}

export function transcript(context: TurnContext): TurnEmission {
  const { text = '', confidence = 0 } = context.transcript ?? {};
  return { type: 'transcript', turnId: turnIdOf(context), text, confidence, final: true };
}

export function grounding(context: TurnContext): TurnEmission {
  const found = currentRound(context).grounding;
  return {
    type: 'grounding',
    ...roundOf(context),
    entities: [...(found?.mentions ?? [])],
    corrections: [...(found?.corrections ?? [])],
    contrasts: [...(found?.contrasts ?? [])],
  };
}

export function notice(context: TurnContext, found: Notice): TurnEmission {
  return { type: 'notice', turnId: turnIdOf(context), ...found };
}

export function delta(context: TurnContext, chunk: AnswerChunk): TurnEmission {
  return { type: 'answer.delta', ...roundOf(context), text: chunk.text, evidenceIds: [...chunk.evidenceIds] };
}

/** The answer of the round, or the statement that it is withheld. */
export function answered(context: TurnContext): TurnEmission {
  const { answer, support } = currentRound(context);
  if (!answer || !support) throw new Error('A round that was judged has an answer and a verdict.');
  const withheld = answer.withheld ?? (support.label === 'UNSAFE' ? support.reason : null);
  return {
    type: 'answer.done',
    ...roundOf(context),
    answer: withheld === null ? answer.text : '',
    contract: context.turn.contract,
    parsed: withheld === null ? answer.parsed : null,
    valid: answer.valid,
    abstained: answer.abstained,
    ...(withheld === null ? {} : { withheld }),
    support,
    citations: withheld === null ? [...answer.citations] : [],
  };
}

export function roundStarted(context: TurnContext): TurnEmission {
  const { text = '', consumes = [] } = context.feedback ?? {};
  return {
    type: 'round.started',
    turnId: turnIdOf(context),
    round: context.rounds.length + 1,
    query: text,
    consumes: [...consumes],
  };
}

export function roundSkipped(context: TurnContext): TurnEmission {
  return { type: 'round.skipped', ...roundOf(context), reason: currentRound(context).skipped ?? '' };
}

/** Another round was wanted, but there were no words to make its query of. */
export function noTerms(context: TurnContext): TurnEmission {
  return {
    type: 'round.skipped',
    turnId: turnIdOf(context),
    round: context.rounds.length + 1,
    reason: 'no_terms',
  };
}

export function cancelled(context: TurnContext, event: { reason: string; replyTo?: string }): TurnEmission {
  const reply = event.replyTo === undefined ? {} : { replyTo: event.replyTo };
  return { type: 'turn.cancelled', turnId: turnIdOf(context), reason: event.reason, ...reply };
}

export function rejected(
  context: TurnContext,
  event: { reason: RejectionReason; message: string },
): TurnEmission {
  return { type: 'turn.rejected', turnId: turnIdOf(context), reason: event.reason, message: event.message };
}

export function noEvidence(context: TurnContext): TurnEmission {
  const message = 'No evidence was found: the stores are empty. Ingest a corpus with `auscult ingest PATH`.';
  return { type: 'turn.rejected', turnId: turnIdOf(context), reason: 'no_evidence', message };
}

// ------------------------------------------------------------------ what a state may rely on having

export function questionOf(context: TurnContext): Question {
  if (!context.question) throw new Error('A working turn has a question.');
  return context.question;
}

export function promptOf(context: TurnContext): Prompt {
  const { prompt } = currentRound(context);
  if (!prompt) throw new Error('A prompt is built before it is used.');
  return prompt;
}

export function answerOf(context: TurnContext): Answer {
  const { answer } = currentRound(context);
  if (!answer) throw new Error('An answer is generated before it is judged.');
  return answer;
}

/** The question's words: typed, or transcribed; null in mode `speech`, where none exist. */
export function queryTextOf(context: TurnContext): string | null {
  const question = questionOf(context);
  return question.kind === 'text' ? question.text : (context.transcript?.text ?? null) || null;
}

/**
 * The vector that stands for the question: the words' where there are words, else the mean of the windows' vectors.
 * Unit length.
 */
export function questionVectorOf(context: TurnContext): Float32Array {
  const withWords = currentRound(context).queries.find(
    ({ query }) => query.source === 'asr' || query.source === 'user_text',
  );
  const vectors = (withWords ?? context.queries[0])?.query.vectors ?? [];
  return meanUnit(vectors);
}

function meanUnit(vectors: readonly Float32Array[]): Float32Array {
  const [first] = vectors;
  if (!first) throw new Error('A query has at least one vector.');
  if (vectors.length === 1) return first;
  const sum = new Float32Array(first.length);
  for (const vector of vectors)
    for (let i = 0; i < sum.length; i += 1) sum[i] = (sum[i] ?? 0) + (vector[i] ?? 0);
  const norm = Math.hypot(...sum) || 1;
  return sum.map((value) => value / norm);
}
