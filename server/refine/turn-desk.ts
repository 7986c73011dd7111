import { randomUUID } from 'node:crypto';
import { TERMINAL_EVENTS, type EffectiveConfig, type OutgoingEvent } from '../../shared/protocol.js';
import type { RejectionReason } from '../../shared/error-codes.js';
import type { Engines } from '../engines.js';
import type { TurnTrace } from '../trace/trace.js';
import { createTurnActors } from './actors.js';
import { startTurn, type Turn } from './turn.js';
import type { Endpoint } from './turn-timings.js';
import type { Question } from './turn-types.js';

export interface TurnDeskOptions {
  readonly engines: Engines;
  readonly sessionId: string;
  readonly deadlineMs: number;
  readonly say: (event: OutgoingEvent) => void;
  readonly keep: (trace: TurnTrace) => void;
}

export interface TurnRequest {
  readonly question: Question;
  readonly endpoint: Endpoint;
  readonly config: EffectiveConfig;
  readonly choices: readonly string[];
}

/** The turns of one session, one at a time: a new question ends the old one, and begins when its work has stopped. */
export interface TurnDesk {
  /** Gives the new turn's id. */
  ask(request: TurnRequest): string;
  reject(reason: RejectionReason, message: string, config: EffectiveConfig): void;
  /** Idempotent: answers with `turn.cancelled` or, where nothing is left to cancel, `response.cancel.ignored`. */
  cancel(
    reason: string,
    request?: { readonly turnId?: string | undefined; readonly replyTo?: string | undefined },
  ): void;
  /** Holds back what is said of the running turn, while somebody speaks over it. */
  pause(): void;
  resume(): void;
  /** Id of the turn that is running or waiting to run. */
  readonly activeTurnId: string | null;
  /** Cancels what runs and resolves when nothing does. */
  end(reason: string): Promise<void>;
}

export function createTurnDesk(options: TurnDeskOptions): TurnDesk {
  const { engines } = options;
  const { actors, idle } = createTurnActors(engines);
  let current: Turn | null = null;
  let held: OutgoingEvent[] | null = null;

  const isTerminal = (event: OutgoingEvent) => (TERMINAL_EVENTS as readonly string[]).includes(event.type);

  function say(turnId: string, event: OutgoingEvent): void {
    if (isTerminal(event) && current?.turnId === turnId) current = null;
    if (event.type === 'turn.cancelled') held = null;
    if (held) held.push(event);
    else options.say(event);
  }

  function begin(config: EffectiveConfig, choices: readonly string[]): Turn {
    const turnId = randomUUID();
    const turn = startTurn({
      actors,
      clock: engines.clock,
      sessionId: options.sessionId,
      runId: engines.runId,
      input: {
        turnId,
        queryMode: config.queryMode,
        contract: config.contract,
        choices,
        retrieval: config.retrieval,
        grounding: true,
        deadlineMs: options.deadlineMs,
      },
      say: (event) => say(turnId, event),
      keep: options.keep,
    });
    return turn;
  }

  function flush(): void {
    const waiting = held ?? [];
    held = null;
    waiting.forEach(options.say);
  }

  return {
    ask({ question, endpoint, config, choices }) {
      current?.cancel('new_question');
      flush();
      const turn = begin(config, choices);
      current = turn;
      // The old turn's work may need a moment to stop; two generations never overlap.
      void idle().then(() => turn.ask(question, endpoint));
      return turn.turnId;
    },
    reject: (reason, message, config) => begin(config, []).reject(reason, message),
    cancel(reason, { turnId, replyTo } = {}) {
      const meant = turnId === undefined || current?.turnId === turnId ? current : null;
      if (meant?.cancel(reason, replyTo)) return;
      const why = turnId === undefined ? 'No turn is running.' : 'That turn is over or unknown.';
      options.say({
        type: 'response.cancel.ignored',
        reason: why,
        ...(replyTo === undefined ? {} : { replyTo }),
      });
    },
    pause() {
      if (current && !held) {
        held = [];
        options.say({ type: 'input.paused', turnId: current.turnId });
      }
    },
    resume: flush,
    get activeTurnId() {
      return current?.turnId ?? null;
    },
    async end(reason) {
      flush();
      current?.cancel(reason);
      await idle();
    },
  };
}
