import { randomUUID } from 'node:crypto';
import { createActor } from 'xstate';
import type { RejectionReason } from '../../shared/error-codes.js';
import type { OutgoingEvent, StopReason } from '../../shared/protocol.js';
import type { Clock } from '../clock.js';
import type { TurnTrace } from '../trace/trace.js';
import { answerMachine } from './answer-machine.js';
import type { TurnActors } from './actors.js';
import { timingsOf, type Endpoint } from './turn-timings.js';
import { traceOf } from './turn-trace.js';
import type { Question, TurnContext, TurnInput } from './turn-types.js';

export interface TurnOptions {
  readonly actors: TurnActors;
  readonly clock: Clock;
  readonly sessionId: string;
  readonly runId: string;
  readonly input: Omit<TurnInput, 'nowMs'>;
  /** Hears everything that the turn says, in order, the terminal event last. */
  readonly say: (event: OutgoingEvent) => void;
  /** Gets the record once, after the terminal event. */
  readonly keep: (trace: TurnTrace) => void;
}

/** A running turn. `settled` resolves when its terminal event has been said and its work has stopped. */
export interface Turn {
  readonly turnId: string;
  ask(question: Question, endpoint: Endpoint): void;
  reject(reason: RejectionReason, message: string): void;
  /** Whether there was anything left to cancel. */
  cancel(reason: string, replyTo?: string): boolean;
  readonly settled: Promise<void>;
}

/** Starts the machine of one turn and lends it a voice, a clock and a memory. */
export function startTurn(options: TurnOptions): Turn {
  const { clock } = options;
  const startedWallMs = clock.wallMs();
  const events: Array<{ type: string; atMs: number }> = [];
  let endpoint: Endpoint = { t0Ms: clock.nowMs(), declaredMs: clock.nowMs(), setting: 'none', decodeMs: 0 };

  const say = (event: OutgoingEvent) => {
    events.push({ type: event.type, atMs: clock.nowMs() });
    options.say(event);
  };
  const actor = createActor(answerMachine.provide({ actors: options.actors }), {
    input: { ...options.input, nowMs: () => clock.nowMs() },
    clock: {
      setTimeout: (task, delayMs) => clock.after(delayMs, task),
      clearTimeout: (cancel: () => void) => cancel(),
    },
  });
  actor.on('*', say);

  const settled = new Promise<void>((resolve) => {
    actor.subscribe({
      complete: () => {
        const { value, context } = actor.getSnapshot();
        const timings = timingsOf(context, endpoint, clock.nowMs());
        const stopReason = stopReasonOf(value, context);
        const traceId = randomUUID();
        if (value === 'failed') say(failureOf(context));
        if (value === 'done' || value === 'failed') {
          say({ type: 'turn.done', turnId: options.input.turnId, stopReason, timings, traceId });
        }
        const { sessionId, runId } = options;
        options.keep(
          traceOf(context, { traceId, sessionId, runId, startedWallMs, stopReason, timings, events }),
        );
        resolve();
      },
    });
  });
  const isActive = () => actor.getSnapshot().status === 'active';
  actor.start();

  return {
    turnId: options.input.turnId,
    ask(question, at) {
      if (!isActive()) return;
      endpoint = at;
      actor.send({ type: 'question', question });
    },
    reject(reason, message) {
      if (isActive()) actor.send({ type: 'reject', reason, message });
    },
    cancel(reason, replyTo) {
      if (!isActive()) return false;
      actor.send({ type: 'cancel', reason, ...(replyTo === undefined ? {} : { replyTo }) });
      return true;
    },
    settled,
  };
}

function stopReasonOf(value: unknown, context: TurnContext): StopReason {
  if (value === 'failed') return 'failed';
  if (value === 'cancelled') return 'cancelled';
  if (value === 'rejected') return 'no_evidence';
  return context.stopReason ?? 'answered';
}

function failureOf(context: TurnContext): OutgoingEvent {
  const { code, message, retryable } = context.failure ?? {
    code: 'internal' as const,
    message: 'The turn failed.',
    retryable: false,
  };
  return { type: 'error', code, message, retryable, turnId: context.turn.turnId };
}
