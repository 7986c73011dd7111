import type { Clock } from '../../server/clock.js';

/** A clock that only moves when a test moves it. */
export interface FakeClock extends Clock {
  /**
   * Moves time on by `ms`, running every timer that falls due, in the order of their times (ties in the order they were set),
   * each at its own time. Promises settle before the first timer, after each one, and after the last. 0 runs what is due now.
   */
  advance(ms: number): Promise<void>;
  /** Timers that wait to run. */
  readonly pending: number;
}

interface Timer {
  readonly atMs: number;
  readonly task: () => void;
}

/** @param startWallMs calendar time at `nowMs` 0; 2026-01-01T00:00:00Z unless said otherwise */
export function createFakeClock(startWallMs = Date.UTC(2026, 0, 1)): FakeClock {
  let nowMs = 0;
  // A Set keeps the order of insertion, which settles ties.
  const timers = new Set<Timer>();

  function nextDue(untilMs: number): Timer | null {
    let next: Timer | null = null;
    for (const timer of timers) {
      if (timer.atMs <= untilMs && (next === null || timer.atMs < next.atMs)) next = timer;
    }
    return next;
  }

  return {
    nowMs: () => nowMs,
    wallMs: () => startWallMs + nowMs,
    after(delayMs, task) {
      const timer = { atMs: nowMs + Math.max(0, delayMs), task };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    async advance(ms) {
      if (!(ms >= 0)) throw new RangeError(`advance(${ms}): time only moves forward`);
      const untilMs = nowMs + ms;
      await settlePromises();
      for (let timer = nextDue(untilMs); timer !== null; timer = nextDue(untilMs)) {
        timers.delete(timer);
        nowMs = Math.max(nowMs, timer.atMs);
        timer.task();
        await settlePromises();
      }
      nowMs = untilMs;
    },
    get pending() {
      return timers.size;
    },
  };
}

/** Resolves when every chain of promises that can go on without I/O has ended: an immediate runs after all microtasks. */
export function settlePromises(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
