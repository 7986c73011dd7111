import { RateLimiterMemory } from 'rate-limiter-flexible';
import { CLOSE_CODES, type CloseCode, type ErrorCode } from '../../shared/error-codes.js';
import type { Limits } from '../../shared/limits.js';
import { SUBPROTOCOL } from '../../shared/protocol.js';
import { addressGroup, isLoopbackAddress, isLoopbackHost, type PeerRequest } from './address.js';
import type { Scope, TokenVerifier } from './tokens.js';

export interface AdmissionOptions {
  readonly limits: Limits;
  readonly tokens: TokenVerifier;
  /** Origins let in beside the server's own, as browsers write them: `https://example.org`. */
  readonly allowedOrigins: readonly string[];
}

export interface Admitted {
  readonly ok: true;
  readonly address: string;
  /** Null where no token is needed. */
  readonly subject: string | null;
  /** Gives the place of a socket back; more than once does nothing. */
  release(): void;
}

export interface Refused {
  readonly ok: false;
  readonly status: 400 | 401 | 403 | 429;
  /**
   * Set when a socket should be opened only to be closed with this code: a browser hides the status of a refused upgrade
   * from its page, and these are refusals that a page must tell people about. Null: refused before the upgrade.
   */
  readonly closeCode: CloseCode | null;
  readonly code: ErrorCode;
  readonly message: string;
}

/** The doors: who may open a socket or ask over HTTP. */
export interface Admission {
  admitSocket(request: PeerRequest): Promise<Admitted | Refused>;
  admitRequest(request: PeerRequest, scope: Scope): Promise<Admitted | Refused>;
}

/** Names under which people put tokens into addresses, where proxies and histories keep them. */
const TOKEN_PARAMETERS = ['token', 'access_token', 'bearer', 'authorization', 'auth', 'api_key', 'apikey'];

export function createAdmission(options: AdmissionOptions): Admission {
  const { limits } = options;
  const sockets = new RateLimiterMemory({ points: limits.connectionsPerMinute, duration: 60 });
  const requests = new RateLimiterMemory({ points: limits.requestsPerMinute, duration: 60 });
  const places = createPlaces(limits);

  async function check(
    request: PeerRequest,
    scope: Scope,
    limiter: RateLimiterMemory,
  ): Promise<Admitted | Refused> {
    const refusal = refuseOrigin(request, options.allowedOrigins) ?? refuseQueryToken(request.url);
    if (refusal !== null) return refusal;
    if (!(await within(limiter, addressGroup(request.address)))) {
      return refused(429, 'limit_exceeded', 'Too many attempts from this address; wait a minute.');
    }
    return identify(request, scope, options.tokens);
  }

  return {
    async admitSocket(request) {
      if (!request.protocols.includes(SUBPROTOCOL)) {
        return refused(400, 'unsupported_version', `Offer the subprotocol ${SUBPROTOCOL}.`);
      }
      const verdict = await check(request, 'live', sockets);
      if (verdict.ok) return places.take(verdict);
      return verdict.status === 401 ? { ...verdict, closeCode: CLOSE_CODES.unauthorised } : verdict;
    },
    admitRequest: (request, scope) => check(request, scope, requests),
  };
}

/** A page of another site may neither open sockets nor post; what is no browser sends no origin. */
function refuseOrigin(request: PeerRequest, allowed: readonly string[]): Refused | null {
  const { origin, host } = request;
  if (origin === null || allowed.includes(origin) || isSameHost(origin, host)) return null;
  return refused(403, 'unauthorised', 'This origin is not allowed; add it to the allowed origins.');
}

function isSameHost(origin: string, host: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host: originHost } = new URL(origin);
  const own = `${protocol}//${host}`;
  return host !== '' && URL.canParse(own) && new URL(own).host === originHost;
}

function refuseQueryToken(url: URL): Refused | null {
  const found = [...url.searchParams.keys()].some((name) => TOKEN_PARAMETERS.includes(name.toLowerCase()));
  if (!found) return null;
  return refused(
    400,
    'unauthorised',
    'A token in the address ends up in logs; send it as `Authorization: Bearer` or as a subprotocol.',
  );
}

function identify(request: PeerRequest, scope: Scope, tokens: TokenVerifier): Admitted | Refused {
  if (!tokens.configured) {
    const local = !request.forwarded && isLoopbackAddress(request.address) && isLoopbackHost(request.host);
    return local
      ? admitted(request.address, null)
      : refused(401, 'unauthorised', 'No token is configured, so only this machine itself is served.');
  }
  const token = readToken(request);
  const grant = token === null ? null : tokens.verify(token);
  if (grant === null) return refused(401, 'unauthorised', 'A valid token is needed.');
  if (!grant.scopes.includes(scope)) {
    return refused(401, 'unauthorised', `The token does not have the scope \`${scope}\`.`);
  }
  return admitted(request.address, grant.subject);
}

/** `Authorization: Bearer T`, or the subprotocols `bearer`, T that a browser can send. */
function readToken(request: PeerRequest): string | null {
  const header = /^Bearer +([^\s]+)$/i.exec(request.authorization ?? '');
  if (header?.[1] !== undefined) return header[1];
  const at = request.protocols.indexOf('bearer');
  return at < 0 ? null : (request.protocols[at + 1] ?? null);
}

/** Resolves to false when the key has used up its points; RateLimiterMemory rejects with its figures then. */
function within(limiter: RateLimiterMemory, key: string): Promise<boolean> {
  return limiter.consume(key).then(
    () => true,
    () => false,
  );
}

/**
 * Open sockets, per address and in all. Twice the sessions: a resumption opens its socket while the lost one still counts;
 * the exact limit on sessions is the registry's.
 */
function createPlaces(limits: Limits): { take(verdict: Admitted): Admitted | Refused } {
  const perAddress = new Map<string, number>();
  let total = 0;
  return {
    take(verdict) {
      const key = addressGroup(verdict.address);
      const taken = perAddress.get(key) ?? 0;
      if (taken >= limits.sessionsPerAddress * 2 || total >= limits.sessions * 2) {
        const refusal = refused(429, 'limit_exceeded', 'Too many connections; close one or try later.');
        return { ...refusal, closeCode: CLOSE_CODES.limited };
      }
      perAddress.set(key, taken + 1);
      total += 1;
      let held = true;
      return {
        ...verdict,
        release() {
          if (!held) return;
          held = false;
          total -= 1;
          const left = (perAddress.get(key) ?? 1) - 1;
          if (left > 0) perAddress.set(key, left);
          else perAddress.delete(key);
        },
      };
    },
  };
}

function admitted(address: string, subject: string | null): Admitted {
  return { ok: true, address, subject, release: () => undefined };
}

function refused(status: Refused['status'], code: ErrorCode, message: string): Refused {
  return { ok: false, status, closeCode: null, code, message };
}
