import type { WebSocket } from 'ws';
import { CLOSE_CODES, type CloseCode } from '../../shared/error-codes.js';
import type { Limits } from '../../shared/limits.js';
import type { Clock } from '../clock.js';
import type { Incoming } from './connection.js';
import { createTokenBucket, type TokenBucket } from './token-bucket.js';

/** A peer that does not answer the closing handshake is cut off after this time, milliseconds. */
export const CLOSE_GRACE_MS = 500;

/** A close frame holds 123 bytes of reason. */
const REASON_CHARACTERS = 100;

export interface GuardedSocketOptions {
  readonly clock: Clock;
  readonly limits: Limits;
  /** A message within the limits; the buffer is only valid during the call. A throw closes the socket with 1011. */
  onMessage(data: Buffer, isBinary: boolean): void;
  /** Called once, last. */
  onClosed(closed: Incoming & { kind: 'closed' }): void;
  onFault?(fault: unknown): void;
}

/** Bounds that ws enforces while it assembles a message, and so before any of our code runs. */
export function wsServerLimits(limits: Limits): {
  readonly maxPayload: number;
  readonly maxFragments: number;
  readonly closeTimeout: number;
  readonly perMessageDeflate: false;
} {
  return {
    maxPayload: Math.max(limits.audioMessageBytes, limits.jsonMessageBytes),
    maxFragments: limits.fragmentsPerMessage,
    closeTimeout: CLOSE_GRACE_MS,
    // Compressed messages would let a small one grow without bound, and sound hardly shrinks.
    perMessageDeflate: false,
  };
}

/**
 * What every WebSocket has in common, whatever is spoken over it: size and rate at the door, heartbeats, one end. Reading is
 * paused until `open`, so nothing is lost or held before. The socket comes from a server with `wsServerLimits`.
 */
export class GuardedSocket {
  private readonly frames: TokenBucket;
  private readonly timers = new Set<() => void>();
  private isClosing = false;
  private isGone = false;
  private isFaulted = false;
  private closeCode: CloseCode | null = null;
  private lastFrameMs: number;

  constructor(
    private readonly socket: WebSocket,
    private readonly options: GuardedSocketOptions,
  ) {
    const { clock, limits } = options;
    this.lastFrameMs = clock.nowMs();
    this.frames = createTokenBucket({
      clock,
      perSecond: limits.framesPerSecond,
      burst: limits.framesPerSecond * 2,
    });
    socket.on('message', (data, isBinary) => this.onMessage(toBuffer(data), isBinary));
    socket.on('ping', () => this.admitFrame());
    socket.on('pong', () => this.admitFrame());
    socket.on('error', () => this.onProtocolFault());
    socket.on('close', (code) => this.onClosed(code));
    socket.pause();
    this.after(limits.heartbeatMs, () => this.onHeartbeat());
  }

  /** True until either side begins to close. */
  get isOpen(): boolean {
    return !this.isClosing;
  }

  /** Bytes handed over that the kernel has not taken. */
  get bufferedBytes(): number {
    return this.socket.bufferedAmount;
  }

  open(): void {
    this.socket.resume();
  }

  write(data: string | Uint8Array, sent: () => void = () => undefined): void {
    this.socket.send(data, sent);
  }

  close(code: CloseCode, reason: string): void {
    if (this.isClosing) return;
    this.isClosing = true;
    this.closeCode = code;
    this.socket.close(code, reason.slice(0, REASON_CHARACTERS));
    this.after(CLOSE_GRACE_MS, () => this.socket.terminate());
  }

  /** The peer has said in its own way that it is done; the close counts as its own. */
  closedByPeer(): void {
    if (this.isClosing) return;
    this.isClosing = true;
    this.socket.close(CLOSE_CODES.normal);
    this.after(CLOSE_GRACE_MS, () => this.socket.terminate());
    this.reportClosed({ kind: 'closed', code: CLOSE_CODES.normal, by: 'peer' });
  }

  /** Runs a task later unless the socket is gone by then. Returns what cancels it. */
  after(delayMs: number, task: () => void): () => void {
    if (this.isGone) return () => undefined;
    const cancel = this.options.clock.after(delayMs, () => {
      this.timers.delete(cancel);
      task();
    });
    this.timers.add(cancel);
    return () => {
      this.timers.delete(cancel);
      cancel();
    };
  }

  private onMessage(data: Buffer, isBinary: boolean): void {
    if (!this.admitFrame()) return;
    if (!isBinary && data.byteLength > this.options.limits.jsonMessageBytes) {
      return this.close(CLOSE_CODES.tooBig, 'text message too big');
    }
    this.guard(() => this.options.onMessage(data, isBinary));
  }

  /** Any frame is a sign of life and counts against the rate; false when it must not be looked at. */
  private admitFrame(): boolean {
    if (this.isClosing) return false;
    this.lastFrameMs = this.options.clock.nowMs();
    if (this.frames.take()) return true;
    this.close(CLOSE_CODES.policy, 'too many frames a second');
    return false;
  }

  private onHeartbeat(): void {
    const { clock, limits } = this.options;
    const leftMs = this.lastFrameMs + limits.heartbeatMs * 2 - clock.nowMs();
    if (leftMs <= 0) return this.socket.terminate();
    if (this.socket.readyState === this.socket.OPEN) this.socket.ping();
    this.after(Math.min(limits.heartbeatMs, leftMs), () => this.onHeartbeat());
  }

  /** ws has refused a frame and has chosen the close code (1002, 1007, 1008, 1009); `close` follows, soon. */
  private onProtocolFault(): void {
    this.isClosing = true;
    this.isFaulted = true;
    this.after(CLOSE_GRACE_MS, () => this.socket.terminate());
  }

  private onClosed(code: number): void {
    this.isClosing = true;
    for (const cancel of this.timers) cancel();
    this.timers.clear();
    const byServer = this.closeCode !== null || this.isFaulted;
    this.reportClosed({
      kind: 'closed',
      code: this.closeCode ?? code,
      by: byServer ? 'server' : 'peer',
    });
  }

  private reportClosed(closed: Incoming & { kind: 'closed' }): void {
    if (this.isGone) return;
    this.isGone = true;
    this.guard(() => this.options.onClosed(closed));
  }

  private guard(task: () => void): void {
    try {
      task();
    } catch (fault) {
      this.options.onFault?.(fault);
      this.close(CLOSE_CODES.internal, 'internal');
    }
  }
}

function toBuffer(data: Buffer | ArrayBuffer | Buffer[]): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
