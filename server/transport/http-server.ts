import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { WebSocket } from 'ws';
import { CLOSE_CODES } from '../../shared/error-codes.js';
import type { Limits } from '../../shared/limits.js';
import { SUBPROTOCOL } from '../../shared/protocol.js';
import type { Clock } from '../clock.js';
import { AuscultError } from '../errors.js';
import type { Admission, Admitted } from './admission.js';
import type { Connection } from './connection.js';
import { createHttpApp, type MetricsText, type Readiness } from './http-app.js';
import type { HttpRoute } from './http-route.js';
import { createStaticFiles } from './static-files.js';
import { serveUpgrades, type UpgradeRoute } from './upgrades.js';
import { CLOSE_GRACE_MS } from './guarded-socket.js';
import { createWsConnection } from './ws-connection.js';

export interface HttpServerOptions {
  readonly clock: Clock;
  readonly limits: Limits;
  /** 0 takes any free port. */
  readonly port: number;
  /** Loopback unless said otherwise. */
  readonly host?: string;
  /** Folder of the built page; it may be missing. */
  readonly clientDir: string;
  readonly admission: Admission;
  /** Hears of every new socket of `/v1/live`; must call `listen` for reading to begin. */
  onConnection(connection: Connection): void;
  readiness(): Readiness;
  /** Endpoints beside health, metrics and the page. */
  readonly routes?: readonly HttpRoute[];
  /** Sockets beside `/v1/live`. */
  readonly upgrades?: readonly UpgradeRoute[];
  readonly metrics?: MetricsText | null;
  /** Believe X-Forwarded-For: only behind a proxy of one's own. */
  readonly trustProxy?: boolean;
  /** Ends the sessions, each with its terminal event; its sockets are closed afterwards whether it succeeds or not. */
  drain?(): Promise<void>;
  /** Most that a close waits for `drain` and open requests, milliseconds; 0 does not wait. 10 s unless said otherwise. */
  readonly drainDeadlineMs?: number;
  readonly observer?: HttpObserver;
}

/** What happens at the doors, for counters and logs; never what is said. */
export interface HttpObserver {
  onSockets?(open: number): void;
  onDropped?(type: string): void;
  onRefused?(code: string): void;
  onFault?(fault: unknown): void;
}

export interface HttpServer {
  readonly port: number;
  /** `http://127.0.0.1:8787`. */
  readonly url: string;
  /**
   * Takes no more, lets sessions end, closes every socket with 1001 and resolves when all is closed, within the deadline and
   * half a second. A second call ends everything at once.
   */
  close(): Promise<void>;
}

const DRAIN_DEADLINE_MS = 10_000;

/** Listens; rejects with `port_in_use` when another program has the port. */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { limits, admission, observer = {}, routes = [], upgrades = [] } = options;
  const trustProxy = options.trustProxy ?? false;
  const live = new LiveSockets(options);
  const app = createHttpApp({
    limits,
    admission,
    trustProxy,
    routes,
    files: await createStaticFiles(options.clientDir),
    metrics: options.metrics ?? null,
    readiness: () => options.readiness(),
    onFault: (fault) => observer.onFault?.(fault),
  });
  const server = createAdaptorServer({ fetch: app.fetch, createServer }) as Server;
  let draining = false;
  serveUpgrades(server, {
    limits,
    trustProxy,
    routes: [live.route(admission), ...upgrades.map((route) => live.track(route))],
    isDraining: () => draining,
    onRefused: (code) => observer.onRefused?.(code),
  });
  const host = options.host ?? '127.0.0.1';
  const port = await listen(server, options.port, host);

  const hurry = signal();
  const stop = async (): Promise<void> => {
    draining = true;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const deadlineMs = options.drainDeadlineMs ?? DRAIN_DEADLINE_MS;
    const deadline = delay(options.clock, deadlineMs);
    const drained = Promise.resolve(options.drain?.()).catch((fault: unknown) => observer.onFault?.(fault));
    await Promise.race([drained, deadline.promise, hurry.given]);
    live.closeAll();
    await Promise.race([closed, deadline.promise, hurry.given]);
    deadline.cancel();
    const grace = delay(options.clock, live.open === 0 ? 0 : CLOSE_GRACE_MS);
    await Promise.race([closed, grace.promise, hurry.given]);
    grace.cancel();
    live.terminateAll();
    server.closeAllConnections();
    await closed;
  };

  let stopping: Promise<void> | null = null;
  return {
    port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    close() {
      if (stopping === null) return (stopping = stop());
      live.terminateAll();
      hurry.give();
      return stopping;
    },
  };
}

/** Every open WebSocket, so that a close can reach them all. */
class LiveSockets {
  private readonly sockets = new Map<WebSocket, Connection | null>();

  constructor(private readonly options: HttpServerOptions) {}

  get open(): number {
    return this.sockets.size;
  }

  route(admission: Admission): UpgradeRoute {
    return {
      path: '/v1/live',
      subprotocol: SUBPROTOCOL,
      admit: (request) => admission.admitSocket(request),
      open: (socket, peer) => this.accept(socket, peer),
    };
  }

  /** The same route, its sockets counted and closed with the others. */
  track(route: UpgradeRoute): UpgradeRoute {
    return {
      ...route,
      admit: (request, raw) => route.admit(request, raw),
      open: (socket, peer) => {
        this.add(socket, null);
        route.open(socket, peer);
      },
    };
  }

  closeAll(): void {
    for (const [socket, connection] of this.sockets) {
      if (connection === null) socket.close(CLOSE_CODES.draining, 'draining');
      else connection.close(CLOSE_CODES.draining, 'draining');
    }
  }

  terminateAll(): void {
    for (const socket of this.sockets.keys()) socket.terminate();
  }

  private accept(socket: WebSocket, peer: Admitted): void {
    const { clock, limits, observer = {} } = this.options;
    const connection = createWsConnection(socket, {
      clock,
      limits,
      peer: { address: peer.address, subject: peer.subject },
      onDropped: (type) => observer.onDropped?.(type),
      onFault: (fault) => observer.onFault?.(fault),
    });
    this.add(socket, connection);
    this.options.onConnection(connection);
  }

  private add(socket: WebSocket, connection: Connection | null): void {
    this.sockets.set(socket, connection);
    this.options.observer?.onSockets?.(this.open);
    socket.once('close', () => {
      this.sockets.delete(socket);
      this.options.observer?.onSockets?.(this.open);
    });
  }
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (fault: NodeJS.ErrnoException) => reject(listenError(fault, port, host)));
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

function listenError(fault: NodeJS.ErrnoException, port: number, host: string): AuscultError {
  if (fault.code === 'EADDRINUSE') {
    const message = `Port ${port} is in use by another program. Stop it, or choose another with --port N (0 takes any free one).`;
    return new AuscultError('port_in_use', { message, cause: fault });
  }
  const message = `Cannot listen on ${host}:${port} (${fault.code ?? 'unknown'}). Check the host and the port.`;
  return new AuscultError('config_invalid', { message, cause: fault });
}

function signal(): { given: Promise<void>; give: () => void } {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => (give = resolve));
  return { given, give };
}

function delay(clock: Clock, ms: number): { promise: Promise<void>; cancel: () => void } {
  let cancel = (): void => undefined;
  const promise = new Promise<void>((resolve) => (cancel = clock.after(ms, resolve)));
  return { promise, cancel };
}
