import type { Clock } from '../clock.js';

/** Looks after a stream that falls silent without saying so: on the wall clock, not on samples. */
export interface StreamWatch {
  /** A message has come; the watch begins with the first. */
  arrived(): void;
  stop(): void;
}

export interface StreamWatchOptions {
  readonly clock: Clock;
  /** Time without a message after which the utterance is over; asked each time, settings may change. */
  readonly idleMs: () => number;
  readonly onIdle: () => void;
  readonly onStalled: (silentMs: number) => void;
  readonly onResumed: (stalledMs: number) => void;
}

/** A stream without any message for this many idle times is reported as stalled. */
const STALL_IDLE_TIMES = 2;

export function createStreamWatch(options: StreamWatchOptions): StreamWatch {
  const { clock } = options;
  let lastMs = clock.nowMs();
  let stalled = false;
  let cancel = (): void => undefined;

  function stall(): void {
    stalled = true;
    options.onStalled(clock.nowMs() - lastMs);
  }

  function idle(): void {
    options.onIdle();
    cancel = clock.after(options.idleMs() * (STALL_IDLE_TIMES - 1), stall);
  }

  return {
    arrived() {
      const nowMs = clock.nowMs();
      if (stalled) options.onResumed(nowMs - lastMs);
      stalled = false;
      lastMs = nowMs;
      cancel();
      cancel = clock.after(options.idleMs(), idle);
    },
    stop() {
      cancel();
    },
  };
}
