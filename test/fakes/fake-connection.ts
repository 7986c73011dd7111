import { AUDIO_FRAME_KINDS, type AudioFrame } from '../../shared/audio-frame.js';
import type { CloseCode } from '../../shared/error-codes.js';
import { LIMITS } from '../../shared/limits.js';
import type { ClientEvent, ServerEvent, ServerEventOf, ServerEventType } from '../../shared/protocol.js';
import type { Connection, Incoming } from '../../server/transport/connection.js';
import { createSendQueue } from '../../server/transport/send-queue.js';

/** A connection without a wire: the test is the peer. */
export interface FakeConnection extends Connection {
  /** Everything the peer has received, in order. */
  readonly received: ReadonlyArray<ServerEvent | Uint8Array>;
  /** The events among it. */
  readonly events: readonly ServerEvent[];
  ofType<T extends ServerEventType>(type: T): Array<ServerEventOf<T>>;
  /** How the server closed it; null while open or when the peer closed it. */
  readonly closedWith: { readonly code: number; readonly reason: string } | null;
  /** The peer sends an event. */
  sends(event: ClientEvent): void;
  /** The peer sends sound without a header, or, with `sampleIndex`, with one. */
  sendsAudio(bytes: Uint8Array, sampleIndex?: number): void;
  /** The peer sends something that the door found invalid. */
  sendsInvalid(invalid: Omit<Incoming & { kind: 'invalid' }, 'kind'>): void;
  /** The peer closes (1000, 1001) or vanishes (1006). */
  leaves(code?: number): void;
  /** The peer stops reading; nothing more is received. */
  stalls(): void;
}

export interface FakeConnectionOptions {
  readonly address?: string;
  readonly subject?: string | null;
  readonly queuedBytes?: number;
}

export function createFakeConnection(options: FakeConnectionOptions = {}): FakeConnection {
  const received: Array<ServerEvent | Uint8Array> = [];
  let hear: (incoming: Incoming) => void = () => undefined;
  const unheard: Incoming[] = [];
  let listening = false;
  let isClosed = false;
  let stalledBytes = 0;
  let stalled = false;
  let sequence = 0;
  let closedWith: FakeConnection['closedWith'] = null;

  const deliver = (incoming: Incoming): void => {
    if (isClosed) return;
    isClosed = incoming.kind === 'closed';
    if (listening) hear(incoming);
    else unheard.push(incoming);
  };

  const close = (code: CloseCode, reason: string): void => {
    if (isClosed) return;
    queue.flush();
    queue.close();
    closedWith = { code, reason };
    deliver({ kind: 'closed', code, by: 'server' });
  };

  const queue = createSendQueue({
    maxBytes: options.queuedBytes ?? LIMITS.queuedBytes,
    onOverflow: () => close(1013, 'the peer reads too slowly'),
    onDropped: () => undefined,
    sink: {
      bufferedBytes: () => stalledBytes,
      write(data) {
        if (stalled) stalledBytes += typeof data === 'string' ? Buffer.byteLength(data) : data.byteLength;
        else received.push(typeof data === 'string' ? (JSON.parse(data) as ServerEvent) : data);
      },
    },
  });

  return {
    peer: { address: options.address ?? '127.0.0.1', subject: options.subject ?? null },
    listen(onIncoming) {
      hear = onIncoming;
      listening = true;
      for (const incoming of unheard.splice(0)) hear(incoming);
    },
    send(message) {
      if (!isClosed) queue.push(message);
    },
    close,
    received,
    get events() {
      return received.filter((message): message is ServerEvent => !(message instanceof Uint8Array));
    },
    ofType<T extends ServerEventType>(type: T) {
      return this.events.filter((event): event is ServerEventOf<T> => event.type === type);
    },
    get closedWith() {
      return closedWith;
    },
    sends: (event) => deliver({ kind: 'event', event }),
    sendsAudio(bytes, sampleIndex) {
      const frame: AudioFrame | null =
        sampleIndex === undefined
          ? null
          : {
              kind: AUDIO_FRAME_KINDS.inputAudio,
              flags: 0,
              sequence: sequence++,
              sampleIndex,
              payload: bytes,
            };
      deliver({ kind: 'audio', bytes, frame });
    },
    sendsInvalid: (invalid) => deliver({ kind: 'invalid', ...invalid }),
    leaves: (code = 1006) => deliver({ kind: 'closed', code, by: 'peer' }),
    stalls() {
      stalled = true;
    },
  };
}
