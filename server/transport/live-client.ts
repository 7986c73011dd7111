import WebSocket from 'ws';
import { encodeAudioFrame, AUDIO_FRAME_KINDS } from '../../shared/audio-frame.js';
import { serverEvent, SUBPROTOCOL, type ClientEvent, type ServerEvent } from '../../shared/protocol.js';
import { AuscultError } from '../errors.js';

type ClientEventInput = ClientEvent extends infer E
  ? E extends { type: infer T }
    ? { type: T } & Record<string, unknown>
    : never
  : never;

/** A peer of the server, for the command line and for benchmarks. */
export interface LiveClient {
  /** Events in order; ends when the socket closes; throws `unreachable` when it breaks. */
  readonly events: AsyncIterable<ServerEvent>;
  send(event: ClientEventInput): void;
  /** 16-bit samples of the declared rate. */
  sendAudio(samples: Int16Array): void;
  close(): void;
}

export interface LiveClientOptions {
  readonly url: string;
  readonly token?: string;
}

/** Opens a socket; rejects with `unreachable` or `unauthorised`. */
export async function openLiveClient({ url, token }: LiveClientOptions): Promise<LiveClient> {
  const protocols = token ? [SUBPROTOCOL, 'bearer', token] : [SUBPROTOCOL];
  const socket = connect(url, protocols);
  const queue: ServerEvent[] = [];
  let wake: (() => void) | null = null;
  let state: 'open' | 'closed' = 'open';
  const fault: { error: AuscultError | null } = { error: null };
  const notify = () => {
    wake?.();
    wake = null;
  };
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) return;
    const parsed = serverEvent.safeParse(JSON.parse(data.toString('utf8')));
    if (parsed.success) queue.push(parsed.data);
    else
      fault.error = new AuscultError('bad_message', {
        message: `The server sent an event that this version does not know: ${parsed.error.message}`,
      });
    notify();
  });
  socket.on('close', (code, reason) => {
    if (code !== 1000 && code !== 1005) fault.error ??= closedWith(code, reason.toString());
    state = 'closed';
    notify();
  });
  await opened(socket, url);
  let sequence = 0;
  let sampleIndex = 0;
  return {
    events: (async function* () {
      for (;;) {
        const next = queue.shift();
        if (next) yield next;
        else if (fault.error) throw fault.error;
        else if (state === 'open') await new Promise<void>((resolve) => (wake = resolve));
        else return;
      }
    })(),
    send: (event) => socket.send(JSON.stringify(event)),
    sendAudio(samples) {
      const payload = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
      socket.send(
        encodeAudioFrame({ kind: AUDIO_FRAME_KINDS.inputAudio, flags: 0, sequence, sampleIndex, payload }),
      );
      sequence += 1;
      sampleIndex += samples.length;
    },
    close: () => socket.close(1000),
  };
}

function connect(url: string, protocols: string[]): WebSocket {
  try {
    return new WebSocket(url, protocols);
  } catch (cause) {
    throw new AuscultError('unreachable', {
      message: `${url} is no WebSocket address; give it as ws://host:port/v1/live.`,
      cause,
    });
  }
}

function opened(socket: WebSocket, url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', (cause) => {
      const refused = /\b40[13]\b/.test(cause.message);
      reject(
        refused
          ? new AuscultError('unauthorised', {
              message: `${url} refused the token or the origin (${cause.message}).`,
              cause,
            })
          : new AuscultError('unreachable', {
              message: `Nothing answers at ${url}; start the server with \`auscult serve\`.`,
              cause,
              retryable: true,
            }),
      );
    });
    socket.on('error', () => undefined);
  });
}

function closedWith(code: number, reason: string): AuscultError {
  const message = `The server closed the connection (${code}${reason ? `: ${reason}` : ''}).`;
  return new AuscultError(code === 4401 ? 'unauthorised' : 'unreachable', {
    message,
    retryable: code === 1001 || code === 1013,
  });
}
