import { randomBytes, randomUUID } from 'node:crypto';
import { CLOSE_CODES, type CloseCode, type ErrorCode } from '../../shared/error-codes.js';
import type { Limits } from '../../shared/limits.js';
import type { SessionStart } from '../../shared/protocol.js';
import type { Clock } from '../clock.js';
import type { Connection, Incoming } from './connection.js';

/** Why a session is over. `closed`: the peer said goodbye; `expired`: it did not come back; `too_long`: LIMITS.sessionMs. */
export type EndReason = 'closed' | 'expired' | 'draining' | 'too_long';

/** A session that outlives its sockets. The registry tells it which socket it speaks through, and forwards what that hears. */
export interface ResumableSession {
  /**
   * Speaks through `connection` from now on; the former one, if any, is already detached. `resume` is null for the first
   * connection; else what the peer has seen, to be answered with `session.ready {resumed: true}` and the replay.
   */
  attach(connection: Connection, resume: { readonly lastSeq: number } | null): void;
  /** What the attached connection heard, in order; never `closed`, never the `session.start` that began it. */
  receive(incoming: Heard): void;
  /** The connection is gone; `attach` or `end('expired')` follows. */
  detach(): void;
  /**
   * Aborts the work, sends a turn's terminal event if a connection is attached, and frees what it holds. Called once; the
   * registry closes the connection when the promise settles.
   */
  end(reason: EndReason): Promise<void>;
}

export type Heard = Exclude<Incoming, { kind: 'closed' }>;

/** What a new session is made of. */
export interface SessionSeed {
  readonly sessionId: string;
  /** 256 random bits; whoever holds it may take the session over. */
  readonly resumeToken: string;
  readonly start: SessionStart;
  readonly peer: Connection['peer'];
  /** To be called by a session that ends by itself: it can no longer be resumed. Closing the connection is the session's. */
  ended(): void;
}

export interface SessionRegistryOptions {
  readonly clock: Clock;
  readonly limits: Limits;
  createSession(seed: SessionSeed): ResumableSession;
}

export interface SessionRegistry {
  /** Waits for `session.start` on a new connection, then begins a session or gives the connection to the one it resumes. */
  accept(connection: Connection): void;
  /** Ends every session (1001 after its terminal event) and refuses new ones; resolves when none is left. Idempotent. */
  drain(): Promise<void>;
  readonly sessions: number;
  /** Sessions that wait for their peer to come back. */
  readonly detached: number;
}

interface Entry {
  readonly seed: SessionSeed;
  readonly session: ResumableSession;
  connection: Connection | null;
  cancelExpiry: () => void;
  readonly cancelLifetime: () => void;
}

export function createSessionRegistry(options: SessionRegistryOptions): SessionRegistry {
  return new Registry(options);
}

class Registry implements SessionRegistry {
  private readonly entries = new Map<string, Entry>();
  private readonly ending = new Set<Promise<void>>();
  private draining = false;

  constructor(private readonly options: SessionRegistryOptions) {}

  get sessions(): number {
    return this.entries.size;
  }

  get detached(): number {
    return [...this.entries.values()].filter((entry) => entry.connection === null).length;
  }

  accept(connection: Connection): void {
    if (this.draining) return connection.close(CLOSE_CODES.draining, 'draining');
    awaitStart(connection, this.options.limits, {
      start: (start) =>
        start.resume === undefined ? this.begin(connection, start) : this.resume(connection, start),
      isAttached: (entry) => entry.connection === connection,
      lose: (entry, closed) => this.lose(entry, closed),
    });
  }

  async drain(): Promise<void> {
    this.draining = true;
    for (const entry of [...this.entries.values()]) this.end(entry, 'draining', CLOSE_CODES.draining);
    while (this.ending.size > 0) await Promise.all(this.ending);
  }

  private begin(connection: Connection, start: SessionStart): Entry | Refusal {
    const { clock, limits } = this.options;
    if (this.draining) return { code: 'limit_exceeded', message: 'The server is shutting down.' };
    const refusal = this.makeRoom(connection.peer.address);
    if (refusal !== null) return refusal;
    const seed: SessionSeed = {
      sessionId: randomUUID(),
      resumeToken: randomBytes(32).toString('base64url'),
      start,
      peer: connection.peer,
      ended: () => this.forget(entry),
    };
    const entry: Entry = {
      seed,
      session: this.options.createSession(seed),
      connection,
      cancelExpiry: () => undefined,
      cancelLifetime: clock.after(limits.sessionMs, () => this.end(entry, 'too_long', CLOSE_CODES.limited)),
    };
    this.entries.set(seed.resumeToken, entry);
    try {
      entry.session.attach(connection, null);
    } catch (fault) {
      // The connection reports it and closes; what never began must not wait for a resumption.
      this.end(entry, 'closed', CLOSE_CODES.internal);
      throw fault;
    }
    return entry;
  }

  private resume(connection: Connection, start: SessionStart): Entry | Refusal {
    const wanted = start.resume;
    const entry = wanted === undefined ? undefined : this.entries.get(wanted.resumeToken);
    if (wanted === undefined || entry === undefined || entry.seed.peer.subject !== connection.peer.subject) {
      return {
        code: 'resume_refused',
        message: 'That session has ended or is unknown; start a new one without `resume`.',
      };
    }
    entry.cancelExpiry();
    const former = entry.connection;
    if (former !== null) {
      // Detach first, so that the close of the old socket is not taken for the loss of the new one.
      entry.connection = null;
      entry.session.detach();
      former.close(CLOSE_CODES.replaced, 'another socket resumed this session');
    }
    entry.connection = connection;
    entry.session.attach(connection, { lastSeq: wanted.lastSeq });
    return entry;
  }

  /** Under the caps, or at them after ending sessions that nobody is attached to; else the refusal. */
  private makeRoom(address: string): Refusal | null {
    const { limits } = this.options;
    const neighbours = [...this.entries.values()].filter((entry) => entry.seed.peer.address === address);
    if (neighbours.length >= limits.sessionsPerAddress && !this.endOneDetached(neighbours)) {
      return limited('Too many sessions from this address; close one first.');
    }
    if (this.entries.size >= limits.sessions && !this.endOneDetached(this.entries.values())) {
      return limited('The server has all the sessions it takes; try again later.');
    }
    return null;
  }

  private endOneDetached(among: Iterable<Entry>): boolean {
    const oldest = [...among].find((entry) => entry.connection === null);
    if (oldest !== undefined) this.end(oldest, 'expired');
    return oldest !== undefined;
  }

  private lose(entry: Entry, closed: Incoming & { kind: 'closed' }): void {
    entry.connection = null;
    if (this.entries.get(entry.seed.resumeToken) !== entry) return;
    entry.session.detach();
    const saidGoodbye = closed.by === 'peer' && (closed.code === 1000 || closed.code === 1001);
    if (saidGoodbye) return this.end(entry, 'closed');
    entry.cancelExpiry = this.options.clock.after(this.options.limits.resumeWindowMs, () =>
      this.end(entry, 'expired'),
    );
  }

  private end(entry: Entry, reason: EndReason, code: CloseCode = CLOSE_CODES.normal): void {
    if (this.entries.get(entry.seed.resumeToken) !== entry) return;
    this.forget(entry);
    const done = Promise.resolve(entry.session.end(reason))
      // A session that fails while it ends must not keep its socket or stop the drain.
      .catch(() => undefined)
      .then(() => entry.connection?.close(code, reason));
    const tracked: Promise<void> = done.finally(() => this.ending.delete(tracked));
    this.ending.add(tracked);
  }

  private forget(entry: Entry): void {
    this.entries.delete(entry.seed.resumeToken);
    entry.cancelExpiry();
    entry.cancelLifetime();
  }
}

interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
}

function limited(message: string): Refusal {
  return { code: 'limit_exceeded', message };
}

interface StartHandlers {
  start(start: SessionStart): Entry | Refusal;
  /** Whether the session still speaks through this connection: a replaced socket must not be heard. */
  isAttached(entry: Entry): boolean;
  lose(entry: Entry, closed: Incoming & { kind: 'closed' }): void;
}

/** Hears one connection from its opening to its end: sound before `session.start` waits, in order, up to a cap. */
function awaitStart(connection: Connection, limits: Limits, handlers: StartHandlers): void {
  const early: Array<Heard & { kind: 'audio' }> = [];
  let earlyBytes = 0;
  let entry: Entry | null = null;
  let refused = false;

  const refuse = (refusal: Refusal, replyTo: string | undefined, code: CloseCode | null): void => {
    connection.send({
      type: 'error',
      seq: 0,
      atMs: 0,
      ...refusal,
      retryable: refusal.code === 'limit_exceeded',
      ...(replyTo === undefined ? {} : { replyTo }),
    });
    if (code === null) return;
    refused = true;
    connection.close(code, refusal.code);
  };

  const onStart = (start: SessionStart): void => {
    const result = handlers.start(start);
    if ('code' in result) {
      return refuse(result, start.id, result.code === 'limit_exceeded' ? CLOSE_CODES.limited : null);
    }
    entry = result;
    for (const waiting of early.splice(0)) result.session.receive(waiting);
  };

  const onEarlyAudio = (incoming: Heard & { kind: 'audio' }): void => {
    earlyBytes += incoming.bytes.byteLength;
    if (earlyBytes <= limits.audioMessageBytes) return void early.push(incoming);
    refuse(
      { code: 'audio_before_ready', message: 'Send `session.start` and wait for `session.ready` first.' },
      undefined,
      CLOSE_CODES.policy,
    );
  };

  const beforeStart = (incoming: Heard): void => {
    if (incoming.kind === 'audio') return onEarlyAudio(incoming);
    if (incoming.kind === 'invalid') {
      const close = incoming.code === 'unsupported_version' ? CLOSE_CODES.badMessage : null;
      return refuse({ code: incoming.code, message: incoming.message }, incoming.replyTo, close);
    }
    if (incoming.event.type === 'session.start') return onStart(incoming.event);
    refuse(
      { code: 'wrong_state', message: 'The first event must be `session.start`.' },
      incoming.event.id,
      null,
    );
  };

  connection.listen((incoming) => {
    if (incoming.kind === 'closed') {
      if (entry !== null && handlers.isAttached(entry)) handlers.lose(entry, incoming);
      return;
    }
    if (entry === null) {
      if (!refused) beforeStart(incoming);
    } else if (handlers.isAttached(entry)) entry.session.receive(incoming);
  });
}
