import { AuscultError } from '../errors.js';

export function abortedError(cause?: unknown): AuscultError {
  return new AuscultError('aborted', { message: 'The answer was cancelled.', cause });
}

/** The work's result, or `aborted` as soon as the signal fires, whether or not the work listens to it. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(abortedError(signal.reason));
    if (signal.aborted) {
      onAbort();
      // The work may still fail on its own; nobody waits for it any more.
      work.catch(() => undefined);
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
