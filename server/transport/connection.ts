import type { CloseCode } from '../../shared/error-codes.js';
import type { AudioFrame } from '../../shared/audio-frame.js';
import type { ClientEvent, ServerEvent } from '../../shared/protocol.js';

/** What a peer sent, validated at the door. Raw binary (without header) comes as `audio` with `frame` null. */
export type Incoming =
  | { readonly kind: 'event'; readonly event: ClientEvent }
  | { readonly kind: 'audio'; readonly bytes: Uint8Array; readonly frame: AudioFrame | null }
  | {
      readonly kind: 'invalid';
      readonly code: 'bad_message' | 'unknown_type' | 'unsupported_version';
      readonly message: string;
      readonly replyTo?: string;
    }
  | {
      readonly kind: 'closed';
      /** WebSocket close code; 1006 when the peer vanished. 1000 and 1001 from the peer mean that it will not come back. */
      readonly code: number;
      readonly by: 'peer' | 'server';
    };

/**
 * PORT. One peer, whatever the wire (browser socket, telephone, test).
 * Contract: `listen` hears every message once, in order, `closed` exactly once and last; `send` after the close does nothing;
 * `send` queues at most LIMITS.queuedBytes, drops droppable events first, then closes with 1013; `close` is idempotent.
 */
export interface Connection {
  readonly peer: { readonly address: string; readonly subject: string | null };
  listen(onIncoming: (incoming: Incoming) => void): void;
  send(message: ServerEvent | Uint8Array): void;
  close(code: CloseCode, reason: string): void;
}
