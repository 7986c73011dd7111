/** Time for the page's logic, so that tests decide when it passes. */
export interface Timers {
  /** Runs a task once after `delayMs`; the returned function calls it off. */
  after(delayMs: number, task: () => void): () => void;
  /** Monotonic, milliseconds. */
  nowMs(): number;
}

export const browserTimers: Timers = {
  after(delayMs, task) {
    const handle = setTimeout(task, delayMs);
    return () => clearTimeout(handle);
  },
  nowMs: () => performance.now(),
};
