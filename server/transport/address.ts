import type { IncomingMessage } from 'node:http';

/** What the doors look at, read off one HTTP request. */
export interface PeerRequest {
  /** The client's network address, IPv4-mapped IPv6 written as IPv4. */
  readonly address: string;
  /** Whether a proxy that is not trusted says it forwards for somebody else. */
  readonly forwarded: boolean;
  readonly method: string;
  readonly host: string;
  /** Present when a browser sends it. */
  readonly origin: string | null;
  readonly authorization: string | null;
  /** Subprotocols offered by an upgrade, in order. */
  readonly protocols: readonly string[];
  readonly url: URL;
}

/** @param trustProxy believe the last entry of X-Forwarded-For: only behind a proxy of one's own that sets it */
export function readPeerRequest(request: IncomingMessage, trustProxy: boolean): PeerRequest {
  const forwardedFor = lastOf(request.headers['x-forwarded-for']);
  const remote = request.socket.remoteAddress ?? '';
  return {
    address: normaliseAddress(trustProxy && forwardedFor !== null ? forwardedFor : remote),
    forwarded: !trustProxy && (forwardedFor !== null || request.headers.forwarded !== undefined),
    method: request.method ?? 'GET',
    host: request.headers.host ?? '',
    origin: request.headers.origin ?? null,
    authorization: request.headers.authorization ?? null,
    protocols: listOf(request.headers['sec-websocket-protocol']),
    url: readUrl(request.url ?? '/'),
  };
}

/** `::ffff:127.0.0.1` is 127.0.0.1; a port or a zone is cut off. */
export function normaliseAddress(address: string): string {
  const bare = address.trim().replace(/%.*$/, '');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare);
  return (mapped?.[1] ?? bare).toLowerCase();
}

/** What counts as one neighbour: an IPv4 address, or the /64 that one IPv6 subscriber has to itself. */
export function addressGroup(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail = ''] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const middle = address.includes('::') ? Math.max(0, 8 - left.length - right.length) : 0;
  const groups = [...left, ...Array<string>(middle).fill('0'), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group || '0', 16).toString(16))
    .join(':')}::/64`;
}

export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^127\.\d+\.\d+\.\d+$/.test(address);
}

/** Whether a Host header names this machine itself; a page that rebinds its name to 127.0.0.1 does not. */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/:\d+$/, '');
  return name === 'localhost' || name === '[::1]' || isLoopbackAddress(name);
}

function lastOf(header: string | string[] | undefined): string | null {
  return listOf(header).at(-1) ?? null;
}

function listOf(header: string | string[] | undefined): string[] {
  if (header === undefined) return [];
  return String(header)
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

function readUrl(target: string): URL {
  // The authority is never looked at; a target that is no path at all becomes one that no route has.
  const path = target.startsWith('/') ? target.replace(/^\/+/, '/') : '/*';
  return URL.canParse(path, 'http://peer') ? new URL(path, 'http://peer') : new URL('http://peer/*');
}
