import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Limits } from '../../shared/limits.js';
import { readPeerRequest, type PeerRequest } from './address.js';
import type { Admitted, Refused } from './admission.js';
import { SECURITY_HEADERS } from './security-headers.js';
import { wsServerLimits } from './guarded-socket.js';

/** A path where HTTP becomes a WebSocket. */
export interface UpgradeRoute {
  readonly path: string;
  /** The one subprotocol that is echoed; null: none. */
  readonly subprotocol: string | null;
  admit(request: PeerRequest, raw: IncomingMessage): Promise<Admitted | Refused>;
  /** Called at once with the open socket, before any of its messages. */
  open(socket: WebSocket, peer: Admitted): void;
}

export interface UpgradeOptions {
  readonly limits: Limits;
  readonly routes: readonly UpgradeRoute[];
  readonly trustProxy: boolean;
  /** While true, every upgrade is answered 503. */
  isDraining(): boolean;
  onRefused?(code: string): void;
}

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** Answers upgrades on the routes; any other path is 404, as for a plain request. */
export function serveUpgrades(server: Server, options: UpgradeOptions): void {
  const routes = new Map(
    options.routes.map((route) => [route.path, { route, webSockets: createWebSockets(route, options) }]),
  );

  const answer = async (raw: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const request = readPeerRequest(raw, options.trustProxy);
    const found = routes.get(request.url.pathname);
    if (found === undefined) {
      return refuse(socket, { status: 404, code: 'not_found', message: 'There is no socket at this path.' });
    }
    if (options.isDraining()) {
      return refuse(socket, { status: 503, code: 'limit_exceeded', message: 'The server is shutting down.' });
    }
    const verdict = await found.route.admit(request, raw);
    if (!verdict.ok) options.onRefused?.(verdict.code);
    if (!verdict.ok && verdict.closeCode === null) return refuse(socket, verdict);
    let opened = false;
    // A peer that left while it was being admitted must not keep its place.
    socket.once('close', () => {
      if (!opened && verdict.ok) verdict.release();
    });
    if (socket.destroyed) return verdict.ok ? verdict.release() : undefined;
    found.webSockets.handleUpgrade(raw, socket, head, (webSocket) => {
      opened = true;
      if (!verdict.ok) return closeWith(webSocket, verdict);
      webSocket.once('close', () => verdict.release());
      found.route.open(webSocket, verdict);
    });
  };

  server.on('upgrade', (raw: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Without a listener, a reset during admission would end the process.
    socket.on('error', () => socket.destroy());
    answer(raw, socket, head).catch(() => socket.destroy());
  });
}

function createWebSockets(route: UpgradeRoute, options: UpgradeOptions): WebSocketServer {
  const { subprotocol } = route;
  return new WebSocketServer({
    ...wsServerLimits(options.limits),
    noServer: true,
    clientTracking: false,
    // The token that a browser offers as a subprotocol is never sent back.
    handleProtocols: (offered) => (subprotocol !== null && offered.has(subprotocol) ? subprotocol : false),
  });
}

function closeWith(webSocket: WebSocket, verdict: Refused): void {
  webSocket.on('error', () => undefined);
  webSocket.close(verdict.closeCode ?? undefined, verdict.code);
}

function refuse(socket: Duplex, refusal: Refusal): void {
  const { status, code, message } = refusal;
  const body = JSON.stringify({ error: { code, message, retryable: status === 429 || status === 503 } });
  const headers = {
    ...SECURITY_HEADERS,
    connection: 'close',
    'content-length': String(Buffer.byteLength(body)),
    'content-type': 'application/json',
    ...(status === 429 ? { 'retry-after': '60' } : {}),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.once('finish', () => socket.destroy());
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', body].join('\r\n'));
}
