import type { Limits } from '../shared/limits.js';
import type { OutgoingEvent } from '../shared/protocol.js';
import type { Clock } from './clock.js';
import { toAuscultError } from './errors.js';
import type { Log } from './log.js';
import type { Connection } from './transport/connection.js';
import { createResumeBuffer } from './transport/resume-buffer.js';

/** How a session speaks: events are numbered, timed, kept for a peer that comes back, and sent while one is there. */
export interface SessionVoice {
  readonly say: (event: OutgoingEvent) => void;
  /** Any thrown value as an `error` event; an unexpected one is logged with its cause. */
  readonly sayError: (thrown: unknown, replyTo?: string) => void;
  /** Speaks through this connection from now on. */
  attach(connection: Connection): void;
  /** Sends what was missed; gives how many events are no longer kept. */
  replay(lastSeq: number): number;
  detach(): void;
}

export interface SessionVoiceOptions {
  readonly engines: { readonly clock: Clock };
  readonly limits: Limits;
  readonly log: Log;
  readonly observe: { readonly event: (event: OutgoingEvent) => void };
}

export function createSessionVoice(options: SessionVoiceOptions, sessionId: string): SessionVoice {
  const { limits, log, observe } = options;
  const { clock } = options.engines;
  const startedMs = clock.nowMs();
  const buffer = createResumeBuffer({ maxEvents: limits.resumeEvents, maxCharacters: limits.queuedBytes });
  let connection: Connection | null = null;

  function say(event: OutgoingEvent): void {
    observe.event(event);
    // Numbered and kept even while nobody is there.
    const stamped = buffer.stamp(event, clock.nowMs() - startedMs);
    connection?.send(stamped);
  }

  return {
    say,
    sayError(thrown, replyTo) {
      const { code, message, retryable, cause } = toAuscultError(thrown);
      if (code === 'internal') log.error({ sessionId, err: cause }, 'session error');
      say({ type: 'error', code, message, retryable, ...(replyTo === undefined ? {} : { replyTo }) });
    },
    attach(to) {
      connection = to;
    },
    replay(lastSeq) {
      const { events, gap } = buffer.replayAfter(lastSeq);
      for (const event of events) connection?.send(event);
      return gap;
    },
    detach() {
      connection = null;
    },
  };
}
