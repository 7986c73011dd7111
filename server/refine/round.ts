import type { SupportLabel } from '../../shared/evidence.js';
import type { RoundTiming } from '../../shared/protocol.js';
import type { Feedback, RetrieveOutput, Round, RoundQuery, TurnContext } from './turn-types.js';

/** Least gain of the best similarity for which a later round is worth an answer (product.md, One turn 8). */
export const MIN_GAIN = 0.01;

const LABEL_ORDER: Record<SupportLabel, number> = { UNSAFE: 0, UNSUPPORTED: 1, PARTIAL: 2, SUPPORTED: 3 };

export function emptyRound(round: number, queries: readonly RoundQuery[]): Round {
  const timing: RoundTiming = {
    round,
    retrieveSpeechMs: 0,
    retrieveTextMs: 0,
    fuseMs: 0,
    transcribeMs: 0,
    groundMs: 0,
    promptMs: 0,
    generateMs: 0,
    judgeMs: 0,
  };
  return {
    round,
    queries,
    retrieval: null,
    grounding: null,
    prompt: null,
    answer: null,
    support: null,
    skipped: null,
    timing,
  };
}

/** The round being run; every working state has one. */
export function currentRound(context: TurnContext): Round {
  const round = context.rounds.at(-1);
  if (!round) throw new Error('No round has begun.');
  return round;
}

/** The rounds with the last one changed. */
export function withCurrent(context: TurnContext, change: Partial<Round>): readonly Round[] {
  return [...context.rounds.slice(0, -1), { ...currentRound(context), ...change }];
}

export function addTiming(round: Round, parts: Partial<Omit<RoundTiming, 'round' | 'skipped'>>): RoundTiming {
  const sum = { ...round.timing };
  for (const [name, ms] of Object.entries(parts) as Array<[keyof typeof parts, number]>) sum[name] += ms;
  return sum;
}

/** Whether a later round's best similarity beats every earlier one by the least gain; the first round always does. */
export function hasGain(context: TurnContext): boolean {
  const current = currentRound(context);
  if (current.round === 1) return true;
  const before = context.rounds.slice(0, -1).map((round) => round.retrieval?.bestScore ?? -1);
  return (current.retrieval?.bestScore ?? -1) - Math.max(...before) >= MIN_GAIN;
}

/** Whether the generator would see a snippet that it has not seen before. */
export function hasNewEvidence(context: TurnContext): boolean {
  const current = currentRound(context);
  if (current.round === 1) return true;
  const seen = new Set(
    context.rounds.slice(0, -1).flatMap((round) => round.prompt?.visible.map(keyOf) ?? []),
  );
  return current.prompt?.visible.some((item) => !seen.has(keyOf(item))) ?? false;
}

function keyOf(item: { id: string; snippet: string }): string {
  return `${item.id}\n${item.snippet}`;
}

/** The best supported answer so far; of equals the later. */
export function bestRound(rounds: readonly Round[]): Round | null {
  let best: Round | null = null;
  for (const round of rounds) if (round.answer && (!best || rankOf(round) >= rankOf(best))) best = round;
  return best;
}

function rankOf(round: Round): number {
  const label = round.support ? LABEL_ORDER[round.support.label] : 0;
  return label * 2 + (round.answer?.abstained ? 0 : 1);
}

/** Weight of words that the machine made itself: they join the question's query, they never replace it. */
export const FEEDBACK_WEIGHT = 0.5;

export function feedbackQuery(feedback: Feedback): RoundQuery {
  return {
    query: { source: 'generated_feedback', vectors: [], text: feedback.text, weight: FEEDBACK_WEIGHT },
    consumes: feedback.consumes,
  };
}

/** The context after a retrieval of the current round. */
export function retrieved(context: TurnContext, output: RetrieveOutput): Partial<TurnContext> {
  const { queries, retrieval } = output;
  const timing = addTiming(currentRound(context), retrieval.timings);
  return {
    rounds: withCurrent(context, { queries, retrieval, timing }),
    calls: { ...context.calls, retrieve: context.calls.retrieve + 1 },
  };
}
