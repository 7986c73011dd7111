import type { ErrorCode } from '../../shared/error-codes.js';
import { toAuscultError } from '../errors.js';
import type { Scope } from './tokens.js';

/** One endpoint that the composition adds to the server, in the words of the web platform only. */
export interface HttpRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** `/v1/answers` or with parameters, `/v1/clips/:id`. */
  readonly path: string;
  /** What a token must allow; null: open to all, as a route that checks its caller by itself. */
  readonly scope: Scope | null;
  /** Largest body, bytes; LIMITS.jsonMessageBytes unless said otherwise. */
  readonly maxBodyBytes?: number;
  /** A thrown AuscultError becomes its JSON answer. */
  handle(request: Request, context: RouteContext): Promise<Response> | Response;
}

export interface RouteContext {
  /** Decoded parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly peer: { readonly address: string; readonly subject: string | null };
}

/** The body of every refusal over HTTP: the same code, message and `retryable` as the `error` event. */
export function errorResponse(
  status: number,
  facts: { readonly code: ErrorCode; readonly message: string; readonly retryable?: boolean },
  headers: Readonly<Record<string, string>> = {},
): Response {
  const { code, message, retryable = false } = facts;
  return Response.json({ error: { code, message, retryable } }, { status, headers });
}

/** Status of a thrown error; what is nobody's fault but ours is 500. */
export function thrownResponse(thrown: unknown): Response {
  const error = toAuscultError(thrown);
  return errorResponse(statusOf(error.code, error.retryable), error);
}

function statusOf(code: ErrorCode, retryable: boolean): number {
  switch (code) {
    case 'bad_message':
    case 'not_audio':
    case 'unknown_type':
    case 'unsupported_audio':
    case 'unsupported_version':
    case 'decode_failed':
      return 400;
    case 'unauthorised':
      return 401;
    case 'not_found':
      return 404;
    case 'wrong_state':
      return 409;
    case 'limit_exceeded':
      return 429;
    default:
      return retryable ? 503 : 500;
  }
}
