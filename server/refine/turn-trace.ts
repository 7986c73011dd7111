import { createHash } from 'node:crypto';
import type { StopReason, TurnTimings } from '../../shared/protocol.js';
import type { QueryTrace, RoundTrace, TurnTrace } from '../trace/trace.js';
import { bestRound } from './round.js';
import type { Question, Round, RoundQuery, TurnContext } from './turn-types.js';

export interface TraceFacts {
  readonly traceId: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly startedWallMs: number;
  readonly stopReason: StopReason;
  readonly timings: TurnTimings;
  readonly events: TurnTrace['events'];
}

/** The whole of a turn as a record. In mode `speech` no field of it holds a word of the question. */
export function traceOf(context: TurnContext, facts: TraceFacts): TurnTrace {
  const { question, turn } = context;
  const best = bestRound(context.rounds);
  return {
    ...facts,
    turnId: turn.turnId,
    source: question?.kind ?? 'speech',
    audioId: question?.kind === 'speech' ? audioIdOf(question) : null,
    audioMs: question?.kind === 'speech' ? (question.windows.at(-1)?.endMs ?? 0) : null,
    windows: question?.kind === 'speech' ? question.windows : [],
    queryMode: question?.kind === 'text' ? 'text' : turn.queryMode,
    contract: turn.contract,
    retrieval: turn.retrieval,
    rounds: context.rounds.map(roundTrace),
    calls: context.calls,
    answer: best?.answer && best.answer.withheld === null ? best.answer.text : null,
    parsed: best?.answer?.parsed ?? null,
    citations: best?.answer?.citations ?? [],
  };
}

function audioIdOf(question: Extract<Question, { kind: 'speech' }>): string {
  const hash = createHash('sha256');
  for (const samples of question.samples)
    hash.update(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
  return hash.digest('hex');
}

function roundTrace(round: Round): RoundTrace {
  const shown = new Map(round.retrieval?.items.map((item) => [item.id, item]));
  return {
    round: round.round,
    queries: round.queries.map(queryTrace),
    hits: [...shown.values()].map((item) => ({
      id: item.id,
      store: item.store,
      rank: item.rank,
      rawScore: item.rawScore,
      score: item.score,
      window: item.matchedWindow,
    })),
    bestScore: round.retrieval?.bestScore ?? -1,
    mentions: round.grounding?.mentions ?? [],
    proposals: (round.grounding?.proposals ?? []).map(({ from, to, score, accepted, reason }) => ({
      from,
      to,
      score,
      accepted,
      reason,
    })),
    corrections: round.grounding?.corrections ?? [],
    contrasts: round.grounding?.contrasts ?? [],
    visible: (round.prompt?.visible ?? []).map(({ id, snippet }) => ({ id, snippet })),
    dropped: round.prompt?.dropped ?? [],
    promptHash: round.prompt?.hash ?? null,
    promptTokens: round.prompt?.tokens ?? null,
    answer: round.answer?.text ?? null,
    support: round.support,
    skipped: round.skipped,
  };
}

function queryTrace({ query, consumes }: RoundQuery): QueryTrace {
  return {
    source: query.source,
    ...(query.text === undefined ? {} : { text: query.text }),
    windows: query.vectors.length,
    weight: query.weight ?? 1,
    vectors: query.vectors.map(encodeVector),
    consumes,
  };
}

/** Float32 little-endian, base64. */
export function encodeVector(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
}

export function decodeVector(text: string): Float32Array {
  const bytes = Uint8Array.from(Buffer.from(text, 'base64'));
  return new Float32Array(bytes.buffer, 0, Math.floor(bytes.byteLength / 4));
}
