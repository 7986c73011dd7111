import type { WebSocket } from 'ws';
import { AUDIO_FRAME_KINDS, decodeAudioFrame } from '../../shared/audio-frame.js';
import { CLOSE_CODES, type CloseCode } from '../../shared/error-codes.js';
import type { Limits } from '../../shared/limits.js';
import {
  PROTOCOL_VERSION,
  sessionStart,
  TERMINAL_EVENTS,
  type ClientEvent,
  type ServerEvent,
} from '../../shared/protocol.js';
import type { Clock } from '../clock.js';
import type { Connection, Incoming } from './connection.js';
import { GuardedSocket } from './guarded-socket.js';
import { createTelephoneInput } from './telephone-input.js';
import { TelephonePlayout } from './telephone-playout.js';
import { parseTwilioMessage, TELEPHONE_RATE_HZ, type TwilioMessage } from './twilio-message.js';

export interface TwilioConnectionOptions {
  readonly clock: Clock;
  readonly limits: Limits;
  readonly peer: Connection['peer'];
  onFault?(fault: unknown): void;
}

/**
 * A call over Twilio Media Streams as a Connection. In: the stream's start is `session.start` of the telephone profile, its
 * sound is framed µ-law, its keys are events. Out: binary speech (µ-law, 8 kHz) is paced to the caller; of the events only
 * their meaning for the sound is used, a telephone shows nothing. What the caller heard comes back as `playback.progress`.
 */
export function createTwilioConnection(socket: WebSocket, options: TwilioConnectionOptions): Connection {
  return new TwilioConnection(socket, options);
}

class TwilioConnection implements Connection {
  readonly peer: Connection['peer'];
  private readonly socket: GuardedSocket;
  private readonly input;
  private readonly playout: TelephonePlayout;
  private hear: ((incoming: Incoming) => void) | null = null;
  private streamSid: string | null = null;
  private badMessages = 0;
  /** Turn that the session speaks of. */
  private turnId = '';
  private turnIsOver = true;

  constructor(
    socket: WebSocket,
    private readonly options: TwilioConnectionOptions,
  ) {
    const { clock, limits, peer } = options;
    this.peer = peer;
    this.input = createTelephoneInput(limits.gapFillMs);
    this.playout = new TelephonePlayout({
      clock,
      maxBytes: limits.queuedBytes,
      sendMedia: (packet) =>
        this.write('media', { media: { payload: Buffer.from(packet).toString('base64') } }),
      sendMark: (name) => this.write('mark', { mark: { name } }),
      sendClear: () => this.write('clear', {}),
      onHeard: (turnId, heardMs) => this.event({ type: 'playback.progress', turnId, heardMs }),
      onOverflow: () => this.close(CLOSE_CODES.tooSlow, 'more speech than the line takes'),
    });
    this.socket = new GuardedSocket(socket, {
      clock,
      limits,
      onMessage: (data, isBinary) =>
        this.onMessage(isBinary ? null : parseTwilioMessage(data.toString('utf8'))),
      onClosed: (closed) => {
        this.playout.clear();
        this.hear?.(closed);
      },
      onFault: (fault) => options.onFault?.(fault),
    });
    this.socket.after(limits.startTimeoutMs, () => {
      if (this.streamSid === null) this.close(CLOSE_CODES.startTimeout, 'no start');
    });
  }

  listen(onIncoming: (incoming: Incoming) => void): void {
    this.hear = onIncoming;
    this.socket.open();
  }

  send(message: ServerEvent | Uint8Array): void {
    if (!this.socket.isOpen) return;
    if (!(message instanceof Uint8Array)) return this.follow(message);
    const frame = decodeAudioFrame(message);
    if (frame?.kind === AUDIO_FRAME_KINDS.speechAudio) this.playout.play(this.turnId, frame.payload);
  }

  close(code: CloseCode, reason: string): void {
    this.socket.close(code, reason);
  }

  /** What an event means for the sound that is being played. */
  private follow(event: ServerEvent): void {
    if (isTerminal(event)) this.turnIsOver = true;
    if (event.type === 'turn.started') {
      // A new question while the last answer is still heard is a barge-in.
      if (this.playout.turn !== event.turnId) this.playout.clear();
      this.turnId = event.turnId;
      this.turnIsOver = false;
    } else if (event.type === 'turn.cancelled') {
      this.playout.clear();
    } else if (event.type === 'speech.started') {
      // The session has nothing left to cancel once the turn is over, but its sound may still be queued.
      if (this.turnIsOver) this.playout.clear();
    } else if (event.type === 'input.paused') {
      this.playout.hold(true);
    } else if (event.type === 'speech.stopped' || event.type === 'turn.rejected') {
      this.playout.hold(false);
    }
  }

  private onMessage(message: TwilioMessage | null): void {
    if (message === null) return this.onBadMessage();
    this.badMessages = 0;
    switch (message.event) {
      case 'connected':
        return;
      case 'start':
        return this.onStart(message);
      case 'media':
        return this.onMedia(message);
      case 'mark':
        return this.playout.acknowledge(message.mark.name);
      case 'dtmf':
        return this.onKey(message.dtmf.digit);
      case 'stop':
        return this.socket.closedByPeer();
    }
  }

  private onStart(message: TwilioMessage & { event: 'start' }): void {
    const format = message.start.mediaFormat;
    const known =
      format === undefined ||
      (format.encoding === 'audio/x-mulaw' &&
        format.sampleRate === TELEPHONE_RATE_HZ &&
        format.channels === 1);
    if (!known) return this.close(CLOSE_CODES.badMessage, 'only 8 kHz mu-law is spoken here');
    if (this.streamSid !== null) return this.onBadMessage();
    this.streamSid = message.start.streamSid;
    this.event(
      sessionStart.parse({
        type: 'session.start',
        version: PROTOCOL_VERSION,
        profile: 'telephone',
        audio: { codec: 'mulaw', rateHz: TELEPHONE_RATE_HZ, channels: 1, framing: 'framed' },
        speak: true,
      }),
    );
  }

  private onMedia(message: TwilioMessage & { event: 'media' }): void {
    // With both tracks streamed, the other one is our own voice.
    if (this.streamSid === null || message.media.track === 'outbound') return;
    const payload = new Uint8Array(Buffer.from(message.media.payload, 'base64'));
    const { frame, restarted } = this.input.take(message.media.timestamp, payload);
    if (restarted) this.event({ type: 'input_audio.clear' });
    this.hear?.({ kind: 'audio', bytes: frame.payload, frame });
  }

  private onKey(digit: string): void {
    if (digit === '0') return this.playout.repeat(this.turnId);
    if (digit !== '*') return;
    this.playout.clear();
    this.event({ type: 'response.cancel' });
  }

  private onBadMessage(): void {
    this.badMessages += 1;
    this.hear?.({ kind: 'invalid', code: 'bad_message', message: 'Not a message of Twilio Media Streams.' });
    if (this.badMessages >= this.options.limits.consecutiveBadMessages) {
      this.close(CLOSE_CODES.badMessage, 'too many invalid messages in a row');
    }
  }

  private event(event: ClientEvent): void {
    this.hear?.({ kind: 'event', event });
  }

  private write(event: string, fields: Readonly<Record<string, unknown>>): void {
    if (this.streamSid === null || !this.socket.isOpen) return;
    if (this.socket.bufferedBytes > this.options.limits.queuedBytes) {
      return this.close(CLOSE_CODES.tooSlow, 'the peer reads too slowly');
    }
    this.socket.write(JSON.stringify({ event, streamSid: this.streamSid, ...fields }));
  }
}

function isTerminal(event: ServerEvent): boolean {
  return (TERMINAL_EVENTS as readonly string[]).includes(event.type);
}
