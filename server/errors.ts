import type { ErrorCode } from '../shared/error-codes.js';

export interface ErrorFacts {
  /** What to do about it is part of the message. */
  readonly message: string;
  readonly cause?: unknown;
  /** Whether the same request may succeed later. */
  readonly retryable?: boolean;
}

/** The one error class that crosses folders: a stable code, a message that says what to do, the cause kept. */
export class AuscultError extends Error {
  readonly code: ErrorCode;
  readonly retryable: boolean;

  constructor(code: ErrorCode, facts: ErrorFacts) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'AuscultError';
    this.code = code;
    this.retryable = facts.retryable ?? false;
  }
}

/** Any thrown value as an AuscultError; an unknown one becomes `internal` with its cause kept. */
export function toAuscultError(thrown: unknown): AuscultError {
  if (thrown instanceof AuscultError) return thrown;
  if (isAbort(thrown))
    return new AuscultError('aborted', { message: 'The work was cancelled.', cause: thrown });
  return new AuscultError('internal', {
    message: 'An unexpected failure; see the server log.',
    cause: thrown,
  });
}

/** Whether a thrown value is the rejection of an aborted signal. */
export function isAbort(thrown: unknown): boolean {
  return (
    thrown instanceof Error &&
    (thrown.name === 'AbortError' || (thrown instanceof AuscultError && thrown.code === 'aborted'))
  );
}
