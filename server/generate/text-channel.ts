import { abortedError } from './abort.js';

/** Pieces of text from a callback to an async iterator; unbounded, as an answer is bounded. */
export interface TextChannel {
  push(text: string): void;
  end(): void;
  fail(error: Error): void;
  /** The pieces in order; rejects with `aborted` as soon as the signal fires, or with what `fail` was given. */
  read(): AsyncIterable<string>;
}

export function createTextChannel(signal: AbortSignal): TextChannel {
  const pieces: string[] = [];
  let state: { readonly done: boolean; readonly error: Error | null } = { done: false, error: null };
  let wake: () => void = () => undefined;
  const finish = (error: Error | null): void => {
    if (!state.done) state = { done: true, error };
    wake();
  };
  return {
    push(text) {
      if (!state.done && text !== '') pieces.push(text);
      wake();
    },
    end: () => finish(null),
    fail: finish,
    async *read() {
      const onAbort = (): void => wake();
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        for (;;) {
          if (signal.aborted) throw abortedError(signal.reason);
          const piece = pieces.shift();
          if (piece !== undefined) yield piece;
          else if (state.done && state.error !== null) throw state.error;
          else if (state.done) return;
          else await new Promise<void>((resolve) => (wake = resolve));
        }
      } finally {
        signal.removeEventListener('abort', onAbort);
      }
    },
  };
}
