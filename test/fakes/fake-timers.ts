import type { Timers } from '../../client/timers.js';

/** Time of the page that passes only when told to. */
export interface FakeTimers extends Timers {
  /** Lets time pass; what falls due runs in order. */
  pass(ms: number): void;
}

export function createFakeTimers(): FakeTimers {
  let nowMs = 0;
  let tasks: Array<{ dueMs: number; task: () => void }> = [];
  return {
    nowMs: () => nowMs,
    after(delayMs, task) {
      const entry = { dueMs: nowMs + delayMs, task };
      tasks.push(entry);
      return () => {
        tasks = tasks.filter((other) => other !== entry);
      };
    },
    pass(ms) {
      const untilMs = nowMs + ms;
      for (;;) {
        const next = tasks.filter((entry) => entry.dueMs <= untilMs).sort((a, b) => a.dueMs - b.dueMs)[0];
        if (!next) break;
        tasks = tasks.filter((entry) => entry !== next);
        nowMs = next.dueMs;
        next.task();
      }
      nowMs = untilMs;
    },
  };
}
