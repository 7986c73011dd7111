import { afterEach, describe, expect, it } from 'vitest';
import { encodeAudioFrame } from '../../shared/audio-frame.js';
import type { ServerEvent } from '../../shared/protocol.js';
import type { Incoming } from '../../server/transport/connection.js';
import { describeConnection, pong } from '../contracts/connection.contract.js';
import { createFakeClock } from '../fakes/fake-clock.js';
import { until } from '../fixtures/until.js';
import { openWsPair, type WsPair, type WsPairOptions } from '../fixtures/ws-pair.js';

describeConnection({
  name: 'a WebSocket',
  carriesEvents: true,
  async open(queuedBytes) {
    const pair = await openWsPair({ limits: { queuedBytes } });
    const arrived: string[] = [];
    pair.client.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) arrived.push((JSON.parse(data.toString()) as ServerEvent).type);
    });
    return {
      connection: pair.connection,
      sendAudio: (fill) => pair.client.send(new Uint8Array(160).fill(fill)),
      leave: () => pair.client.close(1000),
      stopReading: () => pair.client.pause(),
      arrived: () => arrived,
      dispose: () => pair.dispose(),
    };
  },
});

const START = JSON.stringify({ type: 'session.start', version: 1 });

let pair: WsPair | null = null;
afterEach(async () => {
  await pair?.dispose();
  pair = null;
});
async function open(options: WsPairOptions = {}): Promise<WsPair> {
  return (pair = await openWsPair(options));
}
async function closeCode(of: WsPair): Promise<number> {
  return new Promise((resolve) => of.client.once('close', (code) => resolve(code)));
}
const lastHeard = (of: WsPair): Incoming | undefined => of.heard.at(-1);

describe('what a WebSocket hears', () => {
  it('gives events validated, with their defaults', async () => {
    const { client, heard } = await open();
    client.send(START);
    await until(() => heard.length > 0);
    expect(heard[0]).toMatchObject({
      kind: 'event',
      event: { type: 'session.start', profile: 'browser', audio: { codec: 'pcm16', rateHz: 16_000 } },
    });
  });

  it('gives a binary message with its bytes, and its frame when it has a header', async () => {
    const { client, heard } = await open();
    const frame = {
      kind: 1 as const,
      flags: 0,
      sequence: 9,
      sampleIndex: 320,
      payload: new Uint8Array([1, 2, 3, 4]),
    };
    client.send(encodeAudioFrame(frame));
    client.send(new Uint8Array([5, 6, 7]));
    await until(() => heard.length === 2);
    expect(heard[0]).toEqual({ kind: 'audio', bytes: encodeAudioFrame(frame), frame });
    expect(heard[1]).toEqual({ kind: 'audio', bytes: new Uint8Array([5, 6, 7]), frame: null });
  });

  it('does not take the header of the other direction for one', async () => {
    const { client, heard } = await open();
    client.send(
      encodeAudioFrame({ kind: 2, flags: 0, sequence: 0, sampleIndex: 0, payload: new Uint8Array(4) }),
    );
    await until(() => heard.length === 1);
    expect(heard[0]).toMatchObject({ kind: 'audio', frame: null });
  });

  it('hears what came before anybody listened', async () => {
    const { client, connection } = await open({ listen: false });
    client.send(START);
    client.send(new Uint8Array(4));
    await new Promise((resolve) => setTimeout(resolve, 30));
    const heard: string[] = [];
    connection.listen((incoming) => heard.push(incoming.kind));
    await until(() => heard.length === 2);
    expect(heard).toEqual(['event', 'audio']);
  });

  it('closes with 1011 when the listener throws, and tells of the fault', async () => {
    const { client, connection, faults } = await open({ listen: false });
    connection.listen((incoming) => {
      if (incoming.kind === 'event') throw new Error('a mistake of ours');
    });
    const code = closeCode(pair as WsPair);
    client.send(START);
    expect(await code).toBe(1011);
    expect(faults).toEqual([new Error('a mistake of ours')]);
  });
});

describe('the door of a WebSocket', () => {
  it('a 1 MiB frame closes that socket with 1009', async () => {
    const opened = await open();
    const code = closeCode(opened);
    opened.client.send(new Uint8Array(1_048_576));
    expect(await code).toBe(1009);
    await until(() => lastHeard(opened)?.kind === 'closed');
    expect(opened.heard).toMatchObject([{ kind: 'closed', by: 'server' }]);
  });

  it('a text message over its own, smaller limit closes with 1009', async () => {
    const opened = await open();
    const code = closeCode(opened);
    opened.client.send(' '.repeat(65_537));
    expect(await code).toBe(1009);
    await until(() => lastHeard(opened)?.kind === 'closed');
    expect(opened.heard).toEqual([{ kind: 'closed', code: 1009, by: 'server' }]);
  });

  it('10⁶ tiny frames close that socket with 1008, and few of them are heard', async () => {
    const opened = await open({ clock: createFakeClock() });
    const code = closeCode(opened);
    const tiny = new Uint8Array(1);
    for (let sent = 0; sent < 1_000_000 && opened.client.readyState === opened.client.OPEN; sent += 1) {
      opened.client.send(tiny);
      if (sent % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await code).toBe(1008);
    await until(() => lastHeard(opened)?.kind === 'closed');
    expect(opened.heard.filter((incoming) => incoming.kind === 'audio')).toHaveLength(800);
  });

  it('10⁵ empty fragments close that socket with 1008, and nothing of them is heard', async () => {
    const opened = await open();
    const code = closeCode(opened);
    for (let sent = 0; sent < 100_000 && opened.client.readyState === opened.client.OPEN; sent += 1) {
      opened.client.send(new Uint8Array(0), { fin: false });
      if (sent % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await code).toBe(1008);
    await until(() => lastHeard(opened)?.kind === 'closed');
    expect(opened.heard.map((incoming) => incoming.kind)).toEqual(['closed']);
  });

  it('a steady 50 frames a second go on for ever', async () => {
    const clock = createFakeClock();
    const { client, heard } = await open({ clock });
    client.send(START);
    for (let second = 0; second < 40; second += 1) {
      for (let frame = 0; frame < 50; frame += 1) client.send(new Uint8Array(8));
      await until(() => heard.length === (second + 1) * 50 + 1);
      await clock.advance(1_000);
    }
    expect(heard.at(-1)?.kind).toBe('audio');
  });

  it('twenty invalid messages in a row close with 4400; a valid one in between starts the count anew', async () => {
    const opened = await open();
    const code = closeCode(opened);
    for (let sent = 0; sent < 19; sent += 1) opened.client.send('{"type":"nonsense"}');
    opened.client.send('{"type":"ping"}');
    for (let sent = 0; sent < 20; sent += 1) opened.client.send('not json');
    expect(await code).toBe(4400);
    expect(opened.heard.filter((incoming) => incoming.kind === 'invalid')).toHaveLength(39);
  });

  it('no session.start for 5 s closes with 4408; a socket that has started stays', async () => {
    const clock = createFakeClock();
    const silent = await open({ clock });
    const code = closeCode(silent);
    await clock.advance(4_999);
    expect(silent.client.readyState).toBe(silent.client.OPEN);
    await clock.advance(1);
    expect(await code).toBe(4408);
    await silent.dispose();

    const started = await open({ clock });
    started.client.send(START);
    await until(() => started.heard.length === 1);
    await clock.advance(6_000);
    expect(started.heard.map((incoming) => incoming.kind)).toEqual(['event']);
  });
});

describe('the life of a WebSocket', () => {
  it('a ping goes out every 15 s, and its pong keeps the socket', async () => {
    const clock = createFakeClock();
    const { client, heard } = await open({ clock });
    client.send(START);
    await until(() => heard.length === 1);
    let pings = 0;
    client.on('ping', () => (pings += 1));
    for (let period = 1; period <= 6; period += 1) {
      await clock.advance(15_000);
      await until(() => pings === period, `ping ${period}`);
      // The pong has to arrive before time goes on.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(heard.map((incoming) => incoming.kind)).toEqual(['event']);
  });

  it('a peer that does not answer the closing handshake is cut off after 0.5 s', async () => {
    const clock = createFakeClock();
    const opened = await open({ clock });
    opened.client.pause();
    opened.connection.close(1001, 'draining');
    await clock.advance(499);
    expect(opened.heard).toEqual([]);
    await clock.advance(1);
    await until(() => opened.heard.length === 1);
    expect(opened.heard).toEqual([{ kind: 'closed', code: 1001, by: 'server' }]);
  });

  it('leaves no timer behind', async () => {
    const clock = createFakeClock();
    const opened = await open({ clock });
    opened.client.close(1000);
    await until(() => lastHeard(opened)?.kind === 'closed');
    expect(clock.pending).toBe(0);
  });
});

describe('a reader that is too slow', () => {
  const levels = (seq: number): ServerEvent => ({
    type: 'levels',
    seq,
    atMs: 0,
    rms: 0,
    speechProbability: 0,
  });
  const filler = (seq: number): ServerEvent => ({
    type: 'transcript',
    seq,
    atMs: 0,
    turnId: 't',
    text: 'x'.repeat(50_000),
    confidence: 1,
    final: true,
  });

  it('loses levels and previews first, which are counted, and nothing else', async () => {
    const opened = await open();
    const arrived: ServerEvent[] = [];
    opened.client.on('message', (data: Buffer) => arrived.push(JSON.parse(data.toString()) as ServerEvent));
    opened.client.pause();
    const sent: number[] = [];
    // What the kernel takes first is not ours to drop, so this goes on until something was.
    for (let seq = 0; seq < 1_000 && opened.dropped.length < 3; seq += 2) {
      opened.connection.send(filler(seq));
      opened.connection.send(levels(seq + 1));
      sent.push(seq);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(opened.dropped).toEqual(['levels', 'levels', 'levels']);
    opened.connection.send(pong(2_000));
    opened.client.resume();
    await until(() => arrived.at(-1)?.type === 'pong', 'the last event');
    expect(arrived.filter((event) => event.type === 'transcript').map((event) => event.seq)).toEqual(sent);
    expect(arrived.map((event) => event.seq)).toEqual(
      arrived.map((event) => event.seq).sort((a, b) => a - b),
    );
    expect(arrived.filter((event) => event.type === 'levels').length + opened.dropped.length).toBe(
      sent.length,
    );
  });
});
