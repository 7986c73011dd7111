import type { OutgoingEvent } from '../shared/protocol.js';
import type { Engines } from '../server/engines.js';
import { CONTRACTS, scoreAnswer } from '../server/prompt/contracts.js';
import { createTurnActors } from '../server/refine/actors.js';
import { startTurn } from '../server/refine/turn.js';
import type { TurnTrace } from '../server/trace/trace.js';
import type { AskedQuestion } from './rounds-questions.js';

/** How a turn is run: how many rounds at most, and whether entities are grounded. */
export interface Arm {
  readonly maxRounds: 1 | 2 | 3;
  readonly entities: boolean;
}

/** What one turn gave. Shares over turns are means of the 0 / 1 figures. */
export interface TurnOutcome {
  readonly right: number;
  readonly invalid: number;
  readonly supported: number;
  readonly abstained: number;
  readonly failed: number;
  readonly generateCalls: number;
  readonly retrieveCalls: number;
  readonly doneMs: number;
  readonly stopReason: string;
}

const DEADLINE_MS = 300_000;

/** One whole turn on real engines, its question in writing. */
export async function runTurn(engines: Engines, question: AskedQuestion, arm: Arm): Promise<TurnOutcome> {
  const { clock } = engines;
  const { actors, idle } = createTurnActors(engines);
  const said: OutgoingEvent[] = [];
  let trace: TurnTrace | null = null;
  const turn = startTurn({
    actors,
    clock,
    sessionId: 'bench-rounds',
    runId: engines.runId,
    input: {
      turnId: `${question.id}/${arm.maxRounds}${arm.entities ? '+' : ''}`,
      queryMode: 'text',
      contract: question.contract,
      choices: question.choices,
      retrieval: { k: 8, fusion: 'zscore', maxRounds: arm.maxRounds },
      grounding: arm.entities,
      deadlineMs: DEADLINE_MS,
    },
    say: (event) => void said.push(event),
    keep: (kept) => void (trace = kept),
  });
  const nowMs = clock.nowMs();
  turn.ask(
    { kind: 'text', text: question.text },
    { t0Ms: nowMs, declaredMs: nowMs, setting: 'none', decodeMs: 0 },
  );
  await turn.settled;
  await idle();
  if (trace === null) throw new Error('A turn ended without its trace.');
  return outcomeOf(question, said, trace);
}

/** The last answer said stands; a turn that said none abstained or failed, and counts as wrong. */
export function outcomeOf(
  question: AskedQuestion,
  said: readonly OutgoingEvent[],
  trace: TurnTrace,
): TurnOutcome {
  const answer = said.filter((event) => event.type === 'answer.done').at(-1);
  const parsed = answer
    ? CONTRACTS[question.contract].parse(
        answer.withheld === undefined ? answer.answer : '',
        question.choices.length,
      )
    : null;
  const isRight =
    parsed !== null &&
    answer?.withheld === undefined &&
    question.gold !== null &&
    scoreAnswer(parsed, question.gold);
  return {
    right: question.gold === null ? Number.NaN : Number(isRight),
    invalid: Number(answer !== undefined && answer.withheld === undefined && !answer.valid),
    supported: Number(answer?.support.label === 'SUPPORTED'),
    abstained: Number(answer?.abstained ?? trace.stopReason === 'no_evidence'),
    failed: Number(trace.stopReason === 'failed' || trace.stopReason === 'deadline'),
    generateCalls: trace.calls.generate,
    retrieveCalls: trace.calls.retrieve,
    doneMs: trace.timings.doneMs,
    stopReason: trace.stopReason,
  };
}
