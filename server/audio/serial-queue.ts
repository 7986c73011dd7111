/** Tasks one after the other, in the order they were added; a task that fails is reported and the next one runs. */
export interface SerialQueue {
  add(task: () => Promise<void> | void): void;
  /** Forgets what waits; the running task ends. */
  stop(): void;
  /** Resolves when nothing runs or waits. */
  idle(): Promise<void>;
}

export function createSerialQueue(onError: (error: unknown) => void): SerialQueue {
  let tail: Promise<void> = Promise.resolve();
  let stopped = false;
  return {
    add(task) {
      tail = tail
        .then(() => (stopped ? undefined : task()))
        .catch((error: unknown) => {
          if (!stopped) onError(error);
        });
    },
    stop() {
      stopped = true;
    },
    idle: () => tail,
  };
}
