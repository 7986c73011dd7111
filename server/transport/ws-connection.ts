import type { WebSocket } from 'ws';
import { AUDIO_FRAME_KINDS, decodeAudioFrame } from '../../shared/audio-frame.js';
import { CLOSE_CODES, type CloseCode } from '../../shared/error-codes.js';
import type { Limits } from '../../shared/limits.js';
import type { ServerEvent } from '../../shared/protocol.js';
import type { Clock } from '../clock.js';
import { parseClientMessage } from './client-message.js';
import type { Connection, Incoming } from './connection.js';
import { createSendQueue, type SendQueue } from './send-queue.js';
import { createTokenBucket, type TokenBucket } from './token-bucket.js';

/** A peer that does not answer the closing handshake is cut off after this time, milliseconds. */
export const CLOSE_GRACE_MS = 500;

/** A close frame holds 123 bytes of reason. */
const REASON_CHARACTERS = 100;

export interface WsConnectionOptions {
  readonly clock: Clock;
  readonly limits: Limits;
  readonly peer: Connection['peer'];
  /** Called for each event dropped because the peer reads slowly. */
  onDropped?(type: string): void;
  /** Called when the listener throws; the socket is closed with 1011 and the others live on. */
  onFault?(fault: unknown): void;
}

/**
 * A WebSocket as a Connection. Reading is paused until `listen`, so nothing is lost or held before. The socket is expected to
 * come from a server with `wsServerLimits`: what ws itself refuses never gets here.
 */
export function createWsConnection(socket: WebSocket, options: WsConnectionOptions): Connection {
  return new WsConnection(socket, options);
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

class WsConnection implements Connection {
  readonly peer: Connection['peer'];
  private hear: ((incoming: Incoming) => void) | null = null;
  private readonly frames: TokenBucket;
  private readonly queue: SendQueue;
  private readonly timers = new Set<() => void>();
  private closing = false;
  private started = false;
  private gone = false;
  private faulted = false;
  private closeCode: CloseCode | null = null;
  private badMessages = 0;
  private lastFrameMs: number;

  constructor(
    private readonly socket: WebSocket,
    private readonly options: WsConnectionOptions,
  ) {
    const { clock, limits, peer } = options;
    this.peer = peer;
    this.lastFrameMs = clock.nowMs();
    this.frames = createTokenBucket({
      clock,
      perSecond: limits.framesPerSecond,
      burst: limits.framesPerSecond * 2,
    });
    this.queue = createSendQueue({
      sink: { bufferedBytes: () => socket.bufferedAmount, write: (data, sent) => socket.send(data, sent) },
      maxBytes: limits.queuedBytes,
      onOverflow: () => this.close(CLOSE_CODES.tooSlow, 'the peer reads too slowly'),
      onDropped: (type) => options.onDropped?.(type),
    });
    socket.on('message', (data, isBinary) => this.onMessage(toBuffer(data), isBinary));
    socket.on('ping', () => this.admitFrame());
    socket.on('pong', () => this.admitFrame());
    socket.on('error', () => this.onProtocolFault());
    socket.on('close', (code) => this.onClosed(code));
    socket.pause();
    this.after(limits.startTimeoutMs, () => this.onStartTimeout());
    this.after(limits.heartbeatMs, () => this.onHeartbeat());
  }

  listen(onIncoming: (incoming: Incoming) => void): void {
    this.hear = onIncoming;
    this.socket.resume();
  }

  send(message: ServerEvent | Uint8Array): void {
    if (!this.closing) this.queue.push(message);
  }

  close(code: CloseCode, reason: string): void {
    if (this.closing) return;
    this.closing = true;
    this.closeCode = code;
    // What was sent before the close goes out before it; after an overflow nothing waits.
    this.queue.flush();
    this.socket.close(code, reason.slice(0, REASON_CHARACTERS));
    this.after(CLOSE_GRACE_MS, () => this.socket.terminate());
  }

  private onMessage(data: Buffer, isBinary: boolean): void {
    if (!this.admitFrame()) return;
    if (isBinary) return this.onBinary(data);
    if (data.byteLength > this.options.limits.jsonMessageBytes) {
      return this.close(CLOSE_CODES.tooBig, 'text message too big');
    }
    const incoming = parseClientMessage(data.toString('utf8'));
    if (incoming.kind === 'event') {
      this.badMessages = 0;
      this.started ||= incoming.event.type === 'session.start';
      return this.deliver(incoming);
    }
    this.badMessages += 1;
    this.deliver(incoming);
    if (this.badMessages >= this.options.limits.consecutiveBadMessages) {
      this.close(CLOSE_CODES.badMessage, 'too many invalid messages in a row');
    }
  }

  private onBinary(data: Buffer): void {
    // A copy: ws hands out views at odd offsets of a pool that it will use again.
    const bytes = new Uint8Array(data);
    const frame = decodeAudioFrame(bytes);
    this.deliver({
      kind: 'audio',
      bytes,
      frame: frame?.kind === AUDIO_FRAME_KINDS.inputAudio ? frame : null,
    });
  }

  /** Any frame is a sign of life and counts against the rate; false when it must not be looked at. */
  private admitFrame(): boolean {
    if (this.closing) return false;
    this.lastFrameMs = this.options.clock.nowMs();
    if (this.frames.take()) return true;
    this.close(CLOSE_CODES.policy, 'too many frames a second');
    return false;
  }

  private deliver(incoming: Incoming): void {
    try {
      this.hear?.(incoming);
    } catch (fault) {
      this.options.onFault?.(fault);
      this.close(CLOSE_CODES.internal, 'internal');
    }
  }

  private onStartTimeout(): void {
    if (!this.started) this.close(CLOSE_CODES.startTimeout, 'no session.start');
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
    this.closing = true;
    this.faulted = true;
    this.queue.close();
    this.after(CLOSE_GRACE_MS, () => this.socket.terminate());
  }

  private onClosed(code: number): void {
    if (this.gone) return;
    this.gone = true;
    this.closing = true;
    this.queue.close();
    for (const cancel of this.timers) cancel();
    this.timers.clear();
    this.deliver({
      kind: 'closed',
      code: this.closeCode ?? code,
      by: this.closeCode !== null || this.faulted ? 'server' : 'peer',
    });
  }

  private after(delayMs: number, task: () => void): void {
    if (this.gone) return;
    const cancel = this.options.clock.after(delayMs, () => {
      this.timers.delete(cancel);
      task();
    });
    this.timers.add(cancel);
  }
}

function toBuffer(data: Buffer | ArrayBuffer | Buffer[]): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
