import './strict-page.js';
import type { z } from 'zod';
import { AUDIO_FRAME_KINDS, encodeAudioFrame } from '../shared/audio-frame.js';
import { CLOSE_CODES } from '../shared/error-codes.js';
import {
  PROTOCOL_VERSION,
  serverEvent,
  SUBPROTOCOL,
  type clientEvent,
  type ServerEvent,
  type ServerEventOf,
  type ServerEventType,
  type sessionStart,
} from '../shared/protocol.js';
import type { LineState, LineTrouble } from './line-state.js';
import type { Timers } from './timers.js';

/** A request as a client writes it: what has a default may be left out. */
export type ClientRequest = z.input<typeof clientEvent>;
/** What the page wishes of a session; version and resumption are the connection's. */
export type SessionWish = Omit<z.input<typeof sessionStart>, 'type' | 'version' | 'resume'>;

/** The part of WebSocket that is used. */
export interface SocketLike {
  binaryType: string;
  onopen: (() => void) | null;
  onmessage: ((message: { readonly data: unknown }) => void) | null;
  onclose: ((closed: { readonly code: number; readonly reason: string }) => void) | null;
  readonly bufferedAmount: number;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
}

export interface LiveConnectionOptions {
  /** `wss://host/v1/live`. */
  readonly url: string;
  /** Asked at every attempt; null where the server wants none. */
  readonly token: () => string | null;
  /** Asked for every new session. */
  readonly wish: () => SessionWish;
  readonly openSocket: (url: string, protocols: string[]) => SocketLike;
  /** Asked when a socket closed before it opened. */
  readonly probe: () => Promise<LineTrouble>;
  readonly timers: Timers;
}

/** Waits before the next attempts after a loss, milliseconds. */
const RETRY_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000] as const;
/** After a refusal for too much of something, milliseconds. */
const LIMITED_RETRY_MS = 30_000;
/** After this long without `session.ready` the server is asked what it waits for, milliseconds. */
const READY_PATIENCE_MS = 1_500;
/** Sound that may wait in the browser before more is dropped, bytes: about five seconds at 48 kHz. */
const MAX_BUFFERED_BYTES = 500_000;

/** Closes after which trying again by itself would do harm or no good. */
const FINAL_CODES: readonly number[] = [
  CLOSE_CODES.policy,
  CLOSE_CODES.tooBig,
  CLOSE_CODES.badMessage,
  CLOSE_CODES.unauthorised,
  CLOSE_CODES.replaced,
];

type Handler = (event: ServerEvent) => void;

/**
 * The page's end of `/v1/live`: one session at a time, taken up again after a loss with `resume`, begun anew when it cannot be.
 * Handlers hear every event once and in order of `seq`; what a replay repeats is dropped.
 */
export class LiveConnection {
  private readonly handlers = new Map<ServerEventType, Handler[]>();
  private readonly everyHandlers: Handler[] = [];
  private readonly lineHandlers: Array<(line: LineState) => void> = [];
  private socket: SocketLike | null = null;
  private isReady = false;
  private session: { resumeToken: string; lastSeq: number } | null = null;
  private failures = 0;
  private callOffRetry = (): void => undefined;
  private sequence = 0;
  private sampleIndex = 0;
  private state: LineState = { kind: 'connecting' };

  constructor(private readonly options: LiveConnectionOptions) {}

  get line(): LineState {
    return this.state;
  }

  /** Hears one type of event; returns what ends that. */
  on<T extends ServerEventType>(type: T, handler: (event: ServerEventOf<T>) => void): () => void {
    const list = this.handlers.get(type) ?? [];
    this.handlers.set(type, list);
    return addTo(list, handler as Handler);
  }

  /** Hears every event. */
  onEvery(handler: Handler): () => void {
    return addTo(this.everyHandlers, handler);
  }

  onLine(handler: (line: LineState) => void): () => void {
    return addTo(this.lineHandlers, handler);
  }

  /** Connects, or tries again at once. Does nothing while connected. */
  connect(): void {
    this.callOffRetry();
    if (this.socket === null) this.open();
  }

  /** Ends the session, for instance because the sound's rate changed, and begins a new one. */
  restart(): void {
    this.leave();
    this.open();
  }

  /** Goes for good; the server frees the session. */
  leave(): void {
    this.callOffRetry();
    const { socket } = this;
    this.forgetSession();
    this.drop();
    socket?.close(CLOSE_CODES.normal, 'left');
  }

  /** Sends a request; false when there is no session to hear it. */
  send(request: ClientRequest): boolean {
    if (!this.socket || !this.isReady) return false;
    this.socket.send(JSON.stringify(request));
    return true;
  }

  /**
   * Sends 16-bit samples of the declared rate. While the line is down they are only counted: after a resumption the server
   * learns from the index what is missing and puts silence there.
   */
  sendAudio(samples: Int16Array): void {
    const { socket, sequence, sampleIndex } = this;
    this.sequence += 1;
    this.sampleIndex += samples.length;
    if (!socket || !this.isReady || socket.bufferedAmount > MAX_BUFFERED_BYTES) return;
    const payload = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
    const frame = encodeAudioFrame({
      kind: AUDIO_FRAME_KINDS.inputAudio,
      flags: 0,
      sequence,
      sampleIndex,
      payload,
    });
    socket.send(frame as Uint8Array<ArrayBuffer>);
  }

  private open(): void {
    this.tell({ kind: 'connecting' });
    const token = this.options.token();
    const socket = this.options.openSocket(
      this.options.url,
      token === null ? [SUBPROTOCOL] : [SUBPROTOCOL, 'bearer', token],
    );
    this.socket = socket;
    socket.binaryType = 'arraybuffer';
    let hasOpened = false;
    socket.onopen = () => {
      hasOpened = true;
      this.start(socket);
    };
    socket.onmessage = ({ data }) => {
      if (typeof data === 'string') this.receive(socket, data);
    };
    socket.onclose = (closed) => {
      if (socket !== this.socket) return;
      this.drop();
      if (hasOpened) this.recover({ kind: 'closed', ...pick(closed) });
      else void this.options.probe().then((trouble) => this.socket ?? this.recover(trouble));
    };
  }

  private start(socket: SocketLike): void {
    const resume = this.session === null ? {} : { resume: this.session };
    this.askWhyNotReady(socket);
    socket.send(
      JSON.stringify({ ...this.options.wish(), type: 'session.start', version: PROTOCOL_VERSION, ...resume }),
    );
  }

  /** A server that still loads takes the socket and keeps it waiting: say what for, until it is ready. */
  private askWhyNotReady(socket: SocketLike): void {
    this.options.timers.after(READY_PATIENCE_MS, () => {
      if (socket !== this.socket || this.isReady) return;
      this.askWhyNotReady(socket);
      void this.options.probe().then((trouble) => {
        if (socket !== this.socket || this.isReady || trouble.kind !== 'not_ready') return;
        this.tell({ kind: 'connecting', waitingFor: trouble.waitingFor });
      });
    });
  }

  private receive(socket: SocketLike, text: string): void {
    const event = parseEvent(text);
    if (!event) return;
    if (event.type === 'error' && event.code === 'resume_refused' && this.session) {
      // The same socket may begin a new session.
      this.forgetSession();
      return this.start(socket);
    }
    if (event.type === 'session.ready') this.ready(event);
    else if (this.session && (this.isReady || event.type !== 'error')) {
      // An error before `session.ready` is the door's, which does not count.
      if (event.seq <= this.session.lastSeq) return;
      this.session.lastSeq = event.seq;
    }
    for (const handler of [...this.everyHandlers, ...(this.handlers.get(event.type) ?? [])]) handler(event);
  }

  private ready(event: ServerEventOf<'session.ready'>): void {
    this.session = { resumeToken: event.resumeToken, lastSeq: event.seq };
    if (!event.resumed) {
      this.sequence = 0;
      this.sampleIndex = 0;
    }
    this.failures = 0;
    this.isReady = true;
    this.tell({ kind: 'open' });
  }

  /** After a loss: again in a while, or not by itself. */
  private recover(trouble: LineTrouble): void {
    const code = trouble.kind === 'closed' ? trouble.code : 0;
    // These ends are the session's too; it cannot be taken up again.
    const isOver: readonly number[] = [
      CLOSE_CODES.normal,
      CLOSE_CODES.draining,
      CLOSE_CODES.limited,
      ...FINAL_CODES,
    ];
    if (isOver.includes(code)) this.forgetSession();
    if (FINAL_CODES.includes(code)) return this.tell({ kind: 'refused', trouble });
    const usualMs = RETRY_MS[Math.min(this.failures, RETRY_MS.length - 1)] ?? LIMITED_RETRY_MS;
    const isFull = trouble.kind === 'closed' && code === CLOSE_CODES.limited && trouble.reason !== 'too_long';
    const retryInMs = isFull ? LIMITED_RETRY_MS : usualMs;
    this.failures += 1;
    this.callOffRetry = this.options.timers.after(retryInMs, () => this.connect());
    this.tell({ kind: 'waiting', trouble, retryInMs });
  }

  private forgetSession(): void {
    this.session = null;
    this.sequence = 0;
    this.sampleIndex = 0;
  }

  private drop(): void {
    this.socket = null;
    this.isReady = false;
  }

  private tell(line: LineState): void {
    this.state = line;
    for (const handler of [...this.lineHandlers]) handler(line);
  }
}

function parseEvent(text: string): ServerEvent | null {
  try {
    const parsed = serverEvent.safeParse(JSON.parse(text));
    // What a newer server says beyond this version is not for this page.
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

function pick({ code, reason }: { readonly code: number; readonly reason: string }): {
  code: number;
  reason: string;
} {
  return { code, reason };
}

function addTo<T>(list: T[], item: T): () => void {
  list.push(item);
  return () => {
    const at = list.indexOf(item);
    if (at >= 0) list.splice(at, 1);
  };
}
