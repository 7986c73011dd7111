import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../clock.js';

/** What a token lets its holder do. `live`: sessions; `read`: search, answers, clips; `ingest`: write the index. */
export const SCOPES = ['live', 'read', 'ingest', 'metrics'] as const;
export type Scope = (typeof SCOPES)[number];

export interface Grant {
  /** Whom the token stands for; a session may only be resumed by the same. */
  readonly subject: string;
  readonly scopes: readonly Scope[];
}

/** A token written in the configuration: valid until it is taken out. */
export interface StaticToken extends Grant {
  readonly token: string;
}

export interface TokenVerifier {
  /** Whether any token could ever be valid; if not, only loopback is let in. */
  readonly configured: boolean;
  /** The grant of a valid token; null for any other, without saying why. */
  verify(token: string): Grant | null;
}

export interface TokenVerifierOptions {
  readonly clock: Clock;
  /** Key of signed tokens, at least 32 characters; null: none are accepted. */
  readonly secret: string | null;
  readonly staticTokens: readonly StaticToken[];
}

const claims = z.object({
  sub: z.string().min(1).max(128),
  scopes: z.array(z.enum(SCOPES)),
  /** Calendar time of expiry, milliseconds. */
  exp: z.number(),
});

/** Longest token that is looked at, characters. */
const TOKEN_CHARACTERS = 2_048;

export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const { clock, secret, staticTokens } = options;
  const known = staticTokens.map((entry) => ({ digest: digest(entry.token), grant: entry }));
  return {
    configured: secret !== null || known.length > 0,
    verify(token) {
      if (token.length === 0 || token.length > TOKEN_CHARACTERS) return null;
      return matchStatic(token, known) ?? (secret === null ? null : verifySigned(token, secret, clock));
    },
  };
}

/** Makes a token: base64url of the claims, a dot, base64url of their HMAC-SHA256; fit for a header and a subprotocol. */
export function signToken(grant: Grant, expiresWallMs: number, secret: string): string {
  const body = Buffer.from(
    JSON.stringify({ sub: grant.subject, scopes: grant.scopes, exp: expiresWallMs }),
  ).toString('base64url');
  return `${body}.${sign(body, secret).toString('base64url')}`;
}

/** Every entry is compared, over digests of equal length, so that the time taken says nothing. */
function matchStatic(
  token: string,
  known: ReadonlyArray<{ readonly digest: Buffer; readonly grant: Grant }>,
): Grant | null {
  const given = digest(token);
  let match: Grant | null = null;
  for (const entry of known) if (timingSafeEqual(entry.digest, given)) match = entry.grant;
  return match === null ? null : { subject: match.subject, scopes: match.scopes };
}

function verifySigned(token: string, secret: string, clock: Clock): Grant | null {
  const [body = '', signature = '', ...rest] = token.split('.');
  // The digest of the signature has a fixed length, whatever was sent.
  const right = timingSafeEqual(digest(sign(body, secret).toString('base64url')), digest(signature));
  if (!right || rest.length > 0) return null;
  const parsed = claims.safeParse(parseJson(Buffer.from(body, 'base64url').toString('utf8')));
  if (!parsed.success || parsed.data.exp <= clock.wallMs()) return null;
  return { subject: parsed.data.sub, scopes: parsed.data.scopes };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sign(body: string, secret: string): Buffer {
  return createHmac('sha256', secret).update(body).digest();
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
