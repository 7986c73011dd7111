import type { WebSocket } from 'ws';
import { AUDIO_FRAME_KINDS, decodeAudioFrame } from '../../shared/audio-frame.js';
import { CLOSE_CODES, type CloseCode } from '../../shared/error-codes.js';
import type { Limits } from '../../shared/limits.js';
import type { ServerEvent } from '../../shared/protocol.js';
import type { Clock } from '../clock.js';
import { parseClientMessage } from './client-message.js';
import type { Connection, Incoming } from './connection.js';
import { GuardedSocket } from './guarded-socket.js';
import { createSendQueue, type SendQueue } from './send-queue.js';

export interface WsConnectionOptions {
  readonly clock: Clock;
  readonly limits: Limits;
  readonly peer: Connection['peer'];
  /** Called for each event dropped because the peer reads slowly. */
  onDropped?(type: string): void;
  /** Called when the listener throws; the socket is closed with 1011 and the others live on. */
  onFault?(fault: unknown): void;
}

/** A WebSocket that speaks shared/protocol.ts as a Connection. */
export function createWsConnection(socket: WebSocket, options: WsConnectionOptions): Connection {
  return new WsConnection(socket, options);
}

class WsConnection implements Connection {
  readonly peer: Connection['peer'];
  private readonly socket: GuardedSocket;
  private readonly queue: SendQueue;
  private hear: ((incoming: Incoming) => void) | null = null;
  private started = false;
  private badMessages = 0;

  constructor(
    socket: WebSocket,
    private readonly options: WsConnectionOptions,
  ) {
    const { clock, limits, peer } = options;
    this.peer = peer;
    const guarded = new GuardedSocket(socket, {
      clock,
      limits,
      onMessage: (data, isBinary) => (isBinary ? this.onBinary(data) : this.onText(data.toString('utf8'))),
      onClosed: (closed) => {
        this.queue.close();
        this.hear?.(closed);
      },
      onFault: (fault) => options.onFault?.(fault),
    });
    this.socket = guarded;
    this.queue = createSendQueue({
      sink: {
        bufferedBytes: () => guarded.bufferedBytes,
        write: (data, sent) => guarded.write(data, sent),
      },
      maxBytes: limits.queuedBytes,
      onOverflow: () => this.close(CLOSE_CODES.tooSlow, 'the peer reads too slowly'),
      onDropped: (type) => options.onDropped?.(type),
    });
    guarded.after(limits.startTimeoutMs, () => {
      if (!this.started) this.close(CLOSE_CODES.startTimeout, 'no session.start');
    });
  }

  listen(onIncoming: (incoming: Incoming) => void): void {
    this.hear = onIncoming;
    this.socket.open();
  }

  send(message: ServerEvent | Uint8Array): void {
    if (this.socket.isOpen) this.queue.push(message);
  }

  close(code: CloseCode, reason: string): void {
    if (!this.socket.isOpen) return;
    // What was sent before the close goes out before it; after an overflow nothing waits.
    this.queue.flush();
    this.socket.close(code, reason);
  }

  private onText(text: string): void {
    const incoming = parseClientMessage(text);
    if (incoming.kind === 'event') {
      this.badMessages = 0;
      this.started ||= incoming.event.type === 'session.start';
      return this.hear?.(incoming);
    }
    this.badMessages += 1;
    this.hear?.(incoming);
    if (this.badMessages >= this.options.limits.consecutiveBadMessages) {
      this.close(CLOSE_CODES.badMessage, 'too many invalid messages in a row');
    }
  }

  private onBinary(data: Buffer): void {
    // A copy: ws hands out views at odd offsets of a pool that it will use again.
    const bytes = new Uint8Array(data);
    const frame = decodeAudioFrame(bytes);
    this.hear?.({
      kind: 'audio',
      bytes,
      frame: frame?.kind === AUDIO_FRAME_KINDS.inputAudio ? frame : null,
    });
  }
}
