import { afterEach, describe, expect, it } from 'vitest';
import { AUDIO_FRAME_KINDS, encodeAudioFrame } from '../../shared/audio-frame.js';
import type { OutgoingEvent } from '../../shared/protocol.js';
import type { Incoming } from '../../server/transport/connection.js';
import { createTelephoneInput } from '../../server/transport/telephone-input.js';
import { createTelephoneRoutes } from '../../server/transport/telephone-routes.js';
import { createTwilioConnection } from '../../server/transport/twilio-connection.js';
import { twilioSignature } from '../../server/transport/twilio-signature.js';
import { createSystemClock } from '../../server/clock.js';
import { LIMITS } from '../../shared/limits.js';
import { describeConnection } from '../contracts/connection.contract.js';
import { createFakeClock, type FakeClock } from '../fakes/fake-clock.js';
import { connectLive } from '../fixtures/live-client.js';
import { echo, startLiveServer } from '../fixtures/live-server.js';
import { until } from '../fixtures/until.js';
import { openWsPair, type WsPair } from '../fixtures/ws-pair.js';

interface Sent {
  readonly event: string;
  readonly streamSid: string;
  readonly media?: { readonly payload: string };
  readonly mark?: { readonly name: string };
}

const START = JSON.stringify({
  event: 'start',
  sequenceNumber: '1',
  streamSid: 'MZ1',
  start: { streamSid: 'MZ1', mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 } },
});
function media(timestamp: number, fill = 1): string {
  const payload = Buffer.alloc(160, fill).toString('base64');
  return JSON.stringify({
    event: 'media',
    streamSid: 'MZ1',
    media: { track: 'inbound', timestamp: String(timestamp), payload },
  });
}
function speech(ms: number, fill = 9): Uint8Array {
  const payload = new Uint8Array(ms * 8).fill(fill);
  return encodeAudioFrame({
    kind: AUDIO_FRAME_KINDS.speechAudio,
    flags: 0,
    sequence: 0,
    sampleIndex: 0,
    payload,
  });
}

let pair: WsPair | null = null;
afterEach(async () => {
  await pair?.dispose();
  pair = null;
});

interface Call {
  readonly clock: FakeClock;
  readonly heard: Incoming[];
  readonly sent: Sent[];
  say(text: string): void;
  /** What the session says; stamped as it stands. */
  tell(event: OutgoingEvent): void;
  play(sound: Uint8Array): void;
  /** Moves time on, then waits until everything sent has arrived. */
  pass(ms: number): Promise<void>;
  names(): string[];
  mediaMs(): number;
}

async function call(): Promise<Call> {
  const clock = createFakeClock();
  const opened = (pair = await openWsPair({ clock, create: createTwilioConnection }));
  const sent: Sent[] = [];
  opened.client.on('message', (data: Buffer) => sent.push(JSON.parse(data.toString()) as Sent));
  opened.client.send(JSON.stringify({ event: 'connected', protocol: 'Call', version: '1.0.0' }));
  opened.client.send(START);
  await until(() => opened.heard.length === 1, 'the start');
  let pongs = 0;
  opened.client.on('pong', () => (pongs += 1));
  return {
    clock,
    heard: opened.heard,
    sent,
    say: (text) => opened.client.send(text),
    tell: (event) => opened.connection.send({ ...event, seq: 0, atMs: 0 }),
    play: (sound) => opened.connection.send(sound),
    async pass(ms) {
      await clock.advance(ms);
      const before = pongs;
      opened.client.ping();
      await until(() => pongs > before, 'a round trip');
    },
    names: () => sent.map((message) => message.event),
    mediaMs: () => sent.filter((message) => message.event === 'media').length * 20,
  };
}
const turnStarted = (turnId: string): OutgoingEvent => ({
  type: 'turn.started',
  turnId,
  source: 'speech',
  queryMode: 'speech',
  windows: [],
});
const turnRejected = (turnId: string): OutgoingEvent => ({
  type: 'turn.rejected',
  turnId,
  reason: 'noise',
  message: '',
});
const events = (heard: readonly Incoming[]): unknown[] =>
  heard.flatMap((incoming) => (incoming.kind === 'event' ? [incoming.event] : []));

describeConnection({
  name: 'a telephone line',
  carriesEvents: false,
  async open(queuedBytes) {
    const opened = await openWsPair({ limits: { queuedBytes }, create: createTwilioConnection });
    opened.client.send(START);
    let timestamp = 0;
    const arrived: string[] = [];
    opened.client.on('message', (data: Buffer) => arrived.push(data.toString()));
    return {
      connection: {
        peer: opened.connection.peer,
        send: (message) => opened.connection.send(message),
        close: (code, reason) => opened.connection.close(code, reason),
        // The call's own start is not what the suite is about.
        listen: (onIncoming) =>
          opened.connection.listen((incoming) => {
            if (incoming.kind !== 'event') onIncoming(incoming);
          }),
      },
      sendAudio: (fill) => opened.client.send(media((timestamp += 20), fill)),
      leave: () => opened.client.send(JSON.stringify({ event: 'stop', streamSid: 'MZ1' })),
      stopReading: () => opened.client.pause(),
      arrived: () => arrived,
      dispose: () => opened.dispose(),
    };
  },
});

describe('what a caller sends', () => {
  it('begins a session of the telephone profile', async () => {
    const { heard } = await call();
    expect(events(heard)).toMatchObject([
      {
        type: 'session.start',
        version: 1,
        profile: 'telephone',
        audio: { codec: 'mulaw', rateHz: 8_000, framing: 'framed' },
      },
    ]);
  });

  it('another sound format is refused with 4400', async () => {
    const opened = (pair = await openWsPair({ create: createTwilioConnection }));
    const code = new Promise((resolve) => opened.client.once('close', resolve));
    opened.client.send(START.replace('8000', '16000'));
    expect(await code).toBe(4400);
  });

  it('no start for 5 s closes with 4408', async () => {
    const clock = createFakeClock();
    const opened = (pair = await openWsPair({ clock, create: createTwilioConnection }));
    const code = new Promise((resolve) => opened.client.once('close', resolve));
    await clock.advance(5_000);
    expect(await code).toBe(4408);
  });

  it('media timestamps 0, 20, 60 give 20 ms of 0xFF between', () => {
    const input = createTelephoneInput(5_000);
    const packet = new Uint8Array(160).fill(1);
    const taken = [0, 20, 60].map((timestamp) => input.take(timestamp, packet));
    expect(taken.map(({ frame }) => [frame.sampleIndex, frame.payload.length])).toEqual([
      [0, 160],
      [160, 160],
      [320, 320],
    ]);
    expect(taken[2]?.frame.payload).toEqual(
      Uint8Array.from([...Array<number>(160).fill(0xff), ...Array<number>(160).fill(1)]),
    );
    expect(taken.map(({ restarted }) => restarted)).toEqual([false, false, false]);
  });

  it('a gap of an hour is silence up to the cap', () => {
    const input = createTelephoneInput(5_000);
    input.take(0, new Uint8Array(160));
    expect(input.take(3_600_000, new Uint8Array(160)).frame.payload.length).toBe(5_000 * 8 + 160);
    expect(input.take(3_600_020, new Uint8Array(160)).frame.payload.length).toBe(160);
  });

  it('timestamps that go back reset the inference, and the stream goes on', async () => {
    const { heard, say } = await call();
    for (const timestamp of [1_000, 1_020, 0, 20]) say(media(timestamp));
    await until(() => heard.length === 6);
    expect(
      heard.slice(1).map((incoming) => (incoming.kind === 'event' ? incoming.event.type : incoming.kind)),
    ).toEqual(['audio', 'audio', 'input_audio.clear', 'audio', 'audio']);
    const indexes = heard.flatMap((incoming) =>
      incoming.kind === 'audio' ? [incoming.frame?.sampleIndex] : [],
    );
    expect(indexes).toEqual([0, 160, 320, 480]);
  });

  it('what is no message of the stream is invalid, and our own voice is not listened to', async () => {
    const { heard, say } = await call();
    say('{"event":"media","media":{"timestamp":"x","payload":"!"}}');
    say(media(0).replace('inbound', 'outbound'));
    say(media(20));
    await until(() => heard.length === 3);
    expect(heard.slice(1).map((incoming) => incoming.kind)).toEqual(['invalid', 'audio']);
  });
});

describe('what a caller hears', () => {
  it('is paced: 200 ms ahead at first, then as time passes, each 100 ms and the end marked', async () => {
    const { play, tell, pass, mediaMs, sent } = await call();
    tell(turnStarted('t1'));
    play(speech(1_000));
    await pass(0);
    expect(mediaMs()).toBe(200);
    await pass(300);
    expect(mediaMs()).toBe(500);
    await pass(2_000);
    expect(mediaMs()).toBe(1_000);
    expect(sent.filter((message) => message.event === 'mark')).toHaveLength(10);
    const packets = sent.filter((message) => message.event === 'media');
    expect(packets.every((packet) => Buffer.from(packet.media?.payload ?? '', 'base64').length === 160)).toBe(
      true,
    );
  });

  it('heard milliseconds come from acknowledged marks; stale marks are ignored', async () => {
    const { play, tell, pass, sent, say, heard } = await call();
    tell(turnStarted('t1'));
    play(speech(300));
    await pass(500);
    const [first, second] = sent
      .filter((message) => message.event === 'mark')
      .map((message) => message.mark?.name);
    const acknowledge = (name = ''): void =>
      say(JSON.stringify({ event: 'mark', streamSid: 'MZ1', mark: { name } }));
    acknowledge(second);
    acknowledge(first);
    acknowledge('999:100');
    acknowledge('nonsense');
    await pass(0);
    tell(turnStarted('t2'));
    play(speech(100));
    acknowledge(second);
    await pass(0);
    expect(events(heard).slice(1)).toEqual([{ type: 'playback.progress', turnId: 't1', heardMs: 200 }]);
  });

  it('a barge-in clears, and no media of that generation comes after', async () => {
    const { play, tell, pass, names, mediaMs } = await call();
    tell(turnStarted('t1'));
    play(speech(1_000));
    await pass(0);
    tell({ type: 'turn.cancelled', turnId: 't1', reason: 'barge-in' });
    await pass(2_000);
    expect(mediaMs()).toBe(200);
    expect(names().at(-1)).toBe('clear');
    expect(names().filter((name) => name === 'clear')).toHaveLength(1);
  });

  it('a barge-in after generation has ended, while sound is queued, clears too', async () => {
    const { play, tell, pass, names, mediaMs } = await call();
    tell(turnStarted('t1'));
    play(speech(5_000));
    tell(turnRejected('t1'));
    await pass(1_000);
    expect(names()).not.toContain('clear');
    tell({ type: 'speech.started', speechMs: 0 });
    await pass(5_000);
    expect([names().at(-1), mediaMs()]).toEqual(['clear', 1_200]);
  });

  it('a pause holds the sound until the burst turns out to be none', async () => {
    const { play, tell, pass, mediaMs, names } = await call();
    tell(turnStarted('t1'));
    play(speech(1_000));
    await pass(0);
    tell({ type: 'input.paused', turnId: 't1' });
    await pass(3_000);
    expect(mediaMs()).toBe(200);
    tell({ type: 'speech.stopped', speechMs: 0, reason: 'silence' });
    await pass(100);
    expect(mediaMs()).toBe(500);
    await pass(2_000);
    expect([mediaMs(), names().includes('clear')]).toEqual([1_000, false]);
  });

  it('key 0 repeats the last answer, key * stops it and cancels', async () => {
    const { play, tell, pass, mediaMs, say, heard, names } = await call();
    const key = (digit: string): void =>
      say(JSON.stringify({ event: 'dtmf', streamSid: 'MZ1', dtmf: { digit } }));
    tell(turnStarted('t1'));
    play(speech(100));
    await pass(1_000);
    key('0');
    await pass(1_000);
    await pass(1_000);
    expect(mediaMs()).toBe(200);
    key('*');
    await pass(0);
    expect(names().at(-1)).toBe('clear');
    expect(events(heard).at(-1)).toEqual({ type: 'response.cancel' });
  });
});

describe('who may call', () => {
  const url = 'https://voice.example/v1/telephony/voice';

  it('the signature covers the address and the sorted parameters', () => {
    // HMAC-SHA1 with key "12345" of the address followed by CallSidCA1Digits1, made with openssl.
    const signature = twilioSignature('12345', url, [
      ['Digits', '1'],
      ['CallSid', 'CA1'],
    ]);
    expect(signature).toBe('Z5AreBNN8eeoxnBq0+JWlrkW5dc=');
  });

  it('the webhook answers with a stream of its own address, and only to the signature', async () => {
    const routes = createTelephoneRoutes({
      clock: createSystemClock(),
      limits: LIMITS,
      authToken: '12345',
      publicUrl: 'https://voice.example/',
      onConnection: echo,
    });
    const server = await startLiveServer({ routes: [routes.voice], upgrades: [routes.stream] });
    const post = (signature: string): Promise<Response> =>
      fetch(`${server.url}/v1/telephony/voice`, {
        method: 'POST',
        body: new URLSearchParams({ CallSid: 'CA1' }),
        headers: { 'x-twilio-signature': signature },
      });
    const answer = await post(twilioSignature('12345', url, [['CallSid', 'CA1']]));
    expect(answer.headers.get('content-type')).toContain('text/xml');
    expect(await answer.text()).toContain('<Stream url="wss://voice.example/v1/telephony/twilio"/>');
    expect((await post('wrong')).status).toBe(403);

    const stream = `${server.url}/v1/telephony/twilio`;
    await expect(connectLive(stream, { protocols: [] })).rejects.toThrow('refused: 403');
    const signature = twilioSignature('12345', 'wss://voice.example/v1/telephony/twilio', []);
    const caller = await connectLive(stream, { protocols: [], headers: { 'x-twilio-signature': signature } });
    expect(caller.socket.protocol).toBe('');
    await server.close();
    expect((await caller.waitForClose()).code).toBe(1001);
  });
});
