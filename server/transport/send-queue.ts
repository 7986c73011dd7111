import type { ServerEvent } from '../../shared/protocol.js';
import { isDroppable } from './resume-buffer.js';

/** Where queued messages go. */
export interface Sink {
  /** Bytes handed over and not yet with the kernel. */
  bufferedBytes(): number;
  /** Hands one message over; `sent` is called when more may be. */
  write(data: string | Uint8Array, sent: () => void): void;
}

export interface SendQueueOptions {
  readonly sink: Sink;
  /** Most bytes held for the peer, those in the sink included (LIMITS.queuedBytes). */
  readonly maxBytes: number;
  /** The queue is full although everything that may be dropped was. Called once; the queue is empty then. */
  onOverflow(): void;
  /** An event was dropped for want of room. */
  onDropped(type: string): void;
}

/** What a slow reader has still to take, in order. */
export interface SendQueue {
  push(message: ServerEvent | Uint8Array): void;
  /** Bytes waiting, here and in the sink. */
  readonly bytes: number;
  readonly dropped: number;
  /** Hands everything that waits to the sink, for a close that must come after it. */
  flush(): void;
  /** Forgets what waits; later pushes do nothing. */
  close(): void;
}

interface Item {
  readonly data: string | Uint8Array;
  readonly bytes: number;
  /** Type of a droppable event; null for all that must arrive. */
  readonly droppable: string | null;
}

/** Only this much is given to the socket ahead of time: what the socket holds can no longer be dropped. */
const SINK_BYTES = 65_536;

export function createSendQueue(options: SendQueueOptions): SendQueue {
  return new BoundedQueue(options);
}

class BoundedQueue implements SendQueue {
  private items: Item[] = [];
  private waitingBytes = 0;
  private closed = false;
  dropped = 0;

  constructor(private readonly options: SendQueueOptions) {}

  get bytes(): number {
    return this.waitingBytes + this.options.sink.bufferedBytes();
  }

  push(message: ServerEvent | Uint8Array): void {
    if (this.closed) return;
    const item = toItem(message);
    // A newer level makes an older one that is still waiting worthless.
    if (item.droppable !== null) this.drop((queued) => queued.droppable === item.droppable);
    if (!this.fits(item)) this.drop((queued) => queued.droppable !== null);
    if (!this.fits(item)) {
      if (item.droppable !== null) return this.count(item);
      this.close();
      return this.options.onOverflow();
    }
    this.items.push(item);
    this.waitingBytes += item.bytes;
    this.pump();
  }

  flush(): void {
    for (const item of this.items.splice(0)) this.options.sink.write(item.data, () => undefined);
    this.waitingBytes = 0;
  }

  close(): void {
    this.closed = true;
    this.items = [];
    this.waitingBytes = 0;
  }

  private fits(item: Item): boolean {
    return this.bytes + item.bytes <= this.options.maxBytes;
  }

  private drop(matches: (item: Item) => boolean): void {
    this.items = this.items.filter((item) => {
      if (!matches(item)) return true;
      this.waitingBytes -= item.bytes;
      this.count(item);
      return false;
    });
  }

  private count(item: Item): void {
    this.dropped += 1;
    this.options.onDropped(item.droppable ?? '');
  }

  private readonly pump = (): void => {
    while (this.items.length > 0 && this.options.sink.bufferedBytes() < SINK_BYTES) {
      const item = this.items.shift();
      if (item === undefined) return;
      this.waitingBytes -= item.bytes;
      this.options.sink.write(item.data, this.pump);
    }
  };
}

function toItem(message: ServerEvent | Uint8Array): Item {
  if (message instanceof Uint8Array) return { data: message, bytes: message.byteLength, droppable: null };
  const data = JSON.stringify(message);
  return { data, bytes: Buffer.byteLength(data), droppable: isDroppable(message) ? message.type : null };
}
