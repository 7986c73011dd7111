import { assign, emit, enqueueActions, fromPromise, setup } from 'xstate';
import { toAuscultError } from '../errors.js';
import {
  addTiming,
  bestRound,
  currentRound,
  emptyRound,
  feedbackQuery,
  hasGain,
  hasNewEvidence,
  retrieved,
  withCurrent,
} from './round.js';
import { decideNext } from './decide-next.js';
import * as say from './emissions.js';
import type * as T from './turn-types.js';

/** An actor that must be provided; the machine itself has no effects. */
function missing<Output, Input>() {
  return fromPromise<Output, Input>(() => Promise.reject(new Error('This actor was not provided.')));
}

const keepFailure = {
  type: 'keepFailure',
  params: ({ event }: { event: { error: unknown } }) => ({ error: event.error }),
} as const;

const types = {} as {
  input: T.TurnInput;
  context: T.TurnContext;
  events: T.TurnEvent;
  emitted: T.TurnEmission;
};

/** The longest wait that timers know, some weeks. */
const NEVER_MS = 2 ** 31 - 1;

/** The turn ends with the failure's code. */
const FAIL = { target: '#turn.failed', actions: keepFailure } as const;

/** An answer that was given already stays: a later round that fails takes nothing away. */
const KEEP_EARLIER_ANSWER = {
  guard: 'hasEarlierAnswer',
  target: '#turn.done',
  actions: [keepFailure, { type: 'stop', params: { reason: 'failed' } }],
} as const;

/** The round ends unanswered, and the turn with it. */
function skipFor<Reason extends 'no_gain' | 'no_new_evidence'>(reason: Reason) {
  return [
    { type: 'skipRound', params: { reason } },
    { type: 'stop', params: { reason } },
    { type: 'sayRoundSkipped' },
  ] as const;
}

/**
 * One turn, from question to terminal event, as a pure function of events. Effects are the seven named actors (actors.ts
 * provides them); each is aborted through its signal when the state that invoked it is left. What the turn says to its
 * peer are emitted events; nothing is emitted after a final state.
 *
 *     listening → encoding → retrieving → (transcribing → joining) → grounding → prompting → generating → judging
 *                                ↑                                                                          │
 *                                └────────────── at most maxRounds, only where it brings something ─────────┘
 */
export const answerMachine = setup({
  types,
  actors: {
    encode: missing<T.Encoding, T.EncodeInput>(),
    retrieve: missing<T.RetrieveOutput, T.RetrieveInput>(),
    transcribe: missing<T.TranscribeOutput, T.TranscribeInput>(),
    ground: missing<T.GroundOutput, T.GroundInput>(),
    prompt: missing<T.PromptOutput, T.PromptActorInput>(),
    generate: missing<T.GenerateOutput, T.GenerateInput>(),
    judge: missing<T.JudgeOutput, T.JudgeInput>(),
  },
  actions: {
    keepFailure: assign((_, params: { error: unknown }) => ({ failure: toAuscultError(params.error) })),
    stop: assign((_, params: { reason: NonNullable<T.TurnContext['stopReason']> }) => ({
      stopReason: params.reason,
    })),
    beginRound: assign(({ context }) => {
      const number = context.rounds.length + 1;
      const queries = context.feedback
        ? [...context.queries, feedbackQuery(context.feedback)]
        : context.queries;
      return { rounds: [...context.rounds, emptyRound(number, queries)] };
    }),
    skipRound: assign(({ context }, params: { reason: string }) => ({
      rounds: withCurrent(context, {
        skipped: params.reason,
        timing: { ...currentRound(context).timing, skipped: params.reason },
      }),
    })),
    planNext: assign(({ context }) => {
      const next = decideNext(context);
      return next.kind === 'round'
        ? { feedback: next.feedback }
        : { feedback: null, stopReason: next.stopReason };
    }),
    sayRoundSkipped: emit(({ context }) => say.roundSkipped(context)),
    sayNotice: enqueueActions(({ context, enqueue }) => {
      if (context.notice && context.rounds.length === 1) enqueue.emit(say.notice(context, context.notice));
    }),
    sayNoTerms: enqueueActions(({ context, enqueue }) => {
      if (context.stopReason === 'no_terms') enqueue.emit(say.noTerms(context));
    }),
    noteFirstEvidence: assign(({ context }) =>
      context.firstEvidenceMs === null ? { firstEvidenceMs: context.turn.nowMs() } : {},
    ),
    noteFirstAnswer: assign(({ context }) =>
      context.firstAnswerMs === null ? { firstAnswerMs: context.turn.nowMs() } : {},
    ),
  },
  guards: {
    foundNothing: ({ context }) =>
      context.rounds.length === 1 && currentRound(context).retrieval?.items.length === 0,
    joinsWords: ({ context }) => context.rounds.length === 1 && context.turn.queryMode === 'speech+words',
    noGain: ({ context }) => !hasGain(context),
    noNewEvidence: ({ context }) => !hasNewEvidence(context),
    hasEarlierAnswer: ({ context }) => context.rounds.some((round) => round.answer !== null),
    anotherRound: ({ context }) => context.stopReason === null,
    notBetter: ({ context }) =>
      context.rounds.length > 1 && bestRound(context.rounds) !== currentRound(context),
  },
  delays: { deadline: ({ context }) => context.turn.deadlineMs || NEVER_MS },
}).createMachine({
  id: 'turn',
  context: ({ input }) => ({
    turn: input,
    question: null,
    startedMs: input.nowMs(),
    encoding: null,
    transcript: null,
    queries: [],
    rounds: [],
    feedback: null,
    notice: null,
    firstEvidenceMs: null,
    firstAnswerMs: null,
    stopReason: null,
    failure: null,
    calls: { encode: 0, retrieve: 0, generate: 0, judge: 0 },
  }),
  initial: 'listening',
  states: {
    listening: {
      on: {
        question: {
          target: 'working',
          actions: assign(({ event, context }) => ({
            question: event.question,
            startedMs: context.turn.nowMs(),
          })),
        },
        reject: { target: 'rejected', actions: emit(({ context, event }) => say.rejected(context, event)) },
        cancel: { target: 'cancelled', actions: emit(({ context, event }) => say.cancelled(context, event)) },
      },
    },
    working: {
      entry: emit(({ context }) => say.started(context)),
      initial: 'encoding',
      on: {
        cancel: { target: 'cancelled', actions: emit(({ context, event }) => say.cancelled(context, event)) },
      },
      after: { deadline: { target: 'done', actions: { type: 'stop', params: { reason: 'deadline' } } } },
      states: {
        encoding: {
          invoke: {
            src: 'encode',
            input: ({ context }) => ({
              question: say.questionOf(context),
              queryMode: context.turn.queryMode,
            }),
            onDone: {
              target: 'retrieving',
              actions: assign(({ event, context }) => ({
                encoding: event.output,
                queries: [{ query: event.output.query, consumes: [] }],
                calls: { ...context.calls, encode: context.calls.encode + 1 },
              })),
            },
            onError: FAIL,
          },
        },
        retrieving: {
          entry: 'beginRound',
          invoke: {
            src: 'retrieve',
            input: ({ context }) => ({ queries: currentRound(context).queries, turn: context.turn }),
            onDone: {
              target: 'weighing',
              actions: assign(({ event, context }) => retrieved(context, event.output)),
            },
            onError: [KEEP_EARLIER_ANSWER, FAIL],
          },
        },
        /** Before anything is paid for: is there evidence, and is it better than what there was? */
        weighing: {
          always: [
            {
              guard: 'foundNothing',
              target: '#turn.rejected',
              actions: emit(({ context }) => say.noEvidence(context)),
            },
            {
              guard: 'noGain',
              target: '#turn.done',
              actions: skipFor('no_gain'),
            },
            {
              guard: 'joinsWords',
              target: 'transcribing',
              actions: ['noteFirstEvidence', emit(({ context }) => say.evidence(context))],
            },
            {
              target: 'grounding',
              actions: ['noteFirstEvidence', emit(({ context }) => say.evidence(context))],
            },
          ],
        },
        transcribing: {
          invoke: {
            src: 'transcribe',
            input: ({ context }) => ({ encoded: context.encoding?.encoded ?? [] }),
            onDone: [
              {
                guard: ({ event }) => event.output.query !== null,
                target: 'joining',
                actions: [
                  assign(({ event, context }) => {
                    const queries = event.output.query
                      ? [...context.queries, event.output.query]
                      : context.queries;
                    return {
                      transcript: event.output.transcript,
                      queries,
                      rounds: withCurrent(context, { queries }),
                    };
                  }),
                  emit(({ context }) => say.transcript(context)),
                ],
              },
              {
                target: 'grounding',
                actions: assign(({ event }) => ({ transcript: event.output.transcript })),
              },
            ],
            // The sound has already found its evidence: a transcriber that fails takes nothing away.
            onError: { target: 'grounding' },
          },
        },
        joining: {
          invoke: {
            src: 'retrieve',
            input: ({ context }) => ({ queries: context.queries, turn: context.turn }),
            onDone: {
              target: 'grounding',
              actions: [
                assign(({ event, context }) => retrieved(context, event.output)),
                emit(({ context }) => say.evidence(context)),
              ],
            },
            onError: { target: 'grounding' },
          },
        },
        grounding: {
          invoke: {
            src: 'ground',
            input: ({ context }) => ({
              evidence: currentRound(context).retrieval?.items ?? [],
              queryText: say.queryTextOf(context),
              questionVector: say.questionVectorOf(context),
              enabled: context.turn.grounding,
            }),
            onDone: {
              target: 'prompting',
              actions: [
                assign(({ event, context }) => ({
                  notice: context.notice ?? event.output.notice,
                  rounds: withCurrent(context, {
                    grounding: event.output.grounding,
                    timing: addTiming(currentRound(context), { groundMs: event.output.groundMs }),
                  }),
                })),
                emit(({ context }) => say.grounding(context)),
                'sayNotice',
              ],
            },
            onError: FAIL,
          },
        },
        prompting: {
          invoke: {
            src: 'prompt',
            input: ({ context }) => ({
              turn: context.turn,
              queryText: say.queryTextOf(context),
              questionVector: say.questionVectorOf(context),
              evidence: currentRound(context).retrieval?.items ?? [],
              contrasts: currentRound(context).grounding?.contrasts ?? [],
            }),
            onDone: {
              target: 'comparing',
              actions: assign(({ event, context }) => ({
                rounds: withCurrent(context, {
                  prompt: event.output.prompt,
                  timing: addTiming(currentRound(context), { promptMs: event.output.promptMs }),
                }),
              })),
            },
            onError: FAIL,
          },
        },
        /** A later round that shows the generator nothing new is not generated. */
        comparing: {
          always: [
            {
              guard: 'noNewEvidence',
              target: '#turn.done',
              actions: skipFor('no_new_evidence'),
            },
            { target: 'generating' },
          ],
        },
        generating: {
          on: {
            chunk: {
              actions: ['noteFirstAnswer', emit(({ context, event }) => say.delta(context, event.chunk))],
            },
          },
          invoke: {
            src: 'generate',
            input: ({ context, self }) => ({
              prompt: say.promptOf(context),
              onChunk: (chunk) => self.send({ type: 'chunk', chunk }),
            }),
            onDone: {
              target: 'judging',
              actions: assign(({ event, context }) => ({
                rounds: withCurrent(context, {
                  answer: event.output.answer,
                  timing: addTiming(currentRound(context), { generateMs: event.output.generateMs }),
                }),
                calls: { ...context.calls, generate: context.calls.generate + 1 },
              })),
            },
            onError: [KEEP_EARLIER_ANSWER, FAIL],
          },
        },
        judging: {
          invoke: {
            src: 'judge',
            input: ({ context }) => ({ answer: say.answerOf(context), prompt: say.promptOf(context) }),
            onDone: {
              target: 'deciding',
              actions: assign(({ event, context }) => ({
                rounds: withCurrent(context, {
                  support: event.output.support,
                  timing: addTiming(currentRound(context), { judgeMs: event.output.judgeMs }),
                }),
                calls: { ...context.calls, judge: context.calls.judge + 1 },
              })),
            },
            onError: FAIL,
          },
        },
        deciding: {
          entry: 'planNext',
          always: [
            {
              guard: 'notBetter',
              target: '#turn.done',
              actions: [{ type: 'skipRound', params: { reason: 'not_better' } }, 'sayRoundSkipped'],
            },
            {
              guard: 'anotherRound',
              target: 'retrieving',
              actions: [
                emit(({ context }) => say.answered(context)),
                emit(({ context }) => say.roundStarted(context)),
              ],
            },
            { target: '#turn.done', actions: [emit(({ context }) => say.answered(context)), 'sayNoTerms'] },
          ],
        },
      },
    },
    done: { type: 'final' },
    cancelled: { type: 'final' },
    rejected: { type: 'final' },
    failed: { type: 'final' },
  },
});
