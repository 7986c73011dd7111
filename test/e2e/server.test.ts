import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import opus from '@discordjs/opus';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pcmToMuLaw } from '../../server/audio/g711.js';
import { loadConfig } from '../../server/config.js';
import { startServer, type RunningServer } from '../../server/main.js';
import type { ServerEventOf, TurnTimings } from '../../shared/protocol.js';
import { connectLive, type LiveClient } from '../fixtures/live-client.js';
import { requireWeights, sampleSound } from '../fixtures/sample-questions.js';

const LONG = { withinMs: 110_000 };
const TURN_MS = 240_000;

let folder = '';
let server: RunningServer;
const clients: LiveClient[] = [];

beforeAll(async () => {
  requireWeights();
  folder = await mkdtemp(join(tmpdir(), 'auscult-e2e-'));
  server = await startServer(loadConfig({ data: folder, port: 0, logLevel: 'silent' }, {}));
}, 400_000);

afterAll(async () => {
  clients.forEach((client) => client.close());
  await server.close();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

async function session(fields: Readonly<Record<string, unknown>> = {}): Promise<LiveClient> {
  const client = await connect();
  client.start({ queryMode: 'speech', ...fields });
  await client.waitFor('session.ready', LONG);
  return client;
}

async function connect(): Promise<LiveClient> {
  const client = await connectLive(server.url);
  clients.push(client);
  return client;
}

/** Sends sound and says that it is over. */
function speak(client: LiveClient, sound: Uint8Array): number {
  const from = client.events.length;
  client.sendAudio(sound, 6_400);
  client.send({ type: 'input_audio.commit' });
  return from;
}

/** A good question on the same socket is answered, whatever came before. */
async function expectItGoesOn(client: LiveClient): Promise<void> {
  const from = client.events.length;
  client.send({ type: 'question.text', text: 'What is hypertension?' });
  const done = await client.waitFor('turn.done', { from, ...LONG });
  expect(done.stopReason).not.toBe('failed');
}

const types = (client: LiveClient, from = 0): string[] => client.events.slice(from).map(({ type }) => type);

/** Every citation of an answer quotes an item that was shown. */
function expectCitationsPointAtEvidence(client: LiveClient, answer: ServerEventOf<'answer.done'>): void {
  const shown = client.events.flatMap((event) =>
    event.type === 'evidence' && event.turnId === answer.turnId ? event.items : [],
  );
  expect(answer.abstained).toBe(false);
  expect(answer.citations.length).toBeGreaterThan(0);
  for (const { evidenceId, quote, start, end } of answer.citations) {
    const cited = shown.filter(({ id }) => id === evidenceId).map(({ text }) => text);
    expect(cited, `citation of ${evidenceId}`).not.toEqual([]);
    expect(cited.some((text) => text.includes(quote))).toBe(true);
    expect(answer.answer.slice(start, end)).not.toBe('');
  }
}

function partsOf({ endpointWaitMs, decodeMs, encodeMs, otherMs, rounds }: TurnTimings): number {
  const inRounds = rounds.flatMap((round) =>
    Object.entries(round).flatMap(([name, value]) => (name.endsWith('Ms') ? [Number(value)] : [])),
  );
  return [endpointWaitMs, decodeMs, encodeMs, otherMs, ...inRounds].reduce((sum, part) => sum + part, 0);
}

describe('a spoken question to the real server', () => {
  it(
    'gets evidence before its answer, whose citations quote what was shown, and times that add up',
    async () => {
      const client = await session();
      speak(client, sampleSound('hypertension-hypotension'));
      const done = await client.waitFor('turn.done', LONG);
      const answer = await client.waitFor('answer.done', LONG);
      const order = types(client);
      expect(order.indexOf('evidence')).toBeGreaterThan(order.indexOf('turn.started'));
      expect(order.indexOf('evidence')).toBeLessThan(order.indexOf('answer.delta'));
      expectCitationsPointAtEvidence(client, answer);
      // Nobody asked for words, so none exist.
      expect(order).not.toContain('transcript');

      const { timings } = done;
      expect(partsOf(timings)).toBeCloseTo(timings.doneMs, 3);
      expect(timings.otherMs).toBeGreaterThan(-1);
      expect(timings.firstEvidenceMs).toBeLessThan(timings.firstAnswerMs ?? 0);
      expect(timings.firstAnswerMs).toBeLessThanOrEqual(timings.doneMs);
      // The stamps of the events, taken elsewhere, tell the same length.
      const stopped = await client.waitFor('speech.stopped', LONG);
      const stamped = done.atMs - stopped.atMs;
      expect(Math.abs(stamped - (timings.doneMs - timings.endpointWaitMs))).toBeLessThan(100);
    },
    TURN_MS,
  );

  it(
    'in mode speech+words also gets a transcript, and evidence that the words brought',
    async () => {
      const client = await session({ queryMode: 'speech+words' });
      speak(client, sampleSound('malaria-prevention'));
      await client.waitFor('turn.done', LONG);
      const heard = await client.waitFor('transcript', LONG);
      expect(heard.text.toLowerCase()).toContain('malaria');
      const sources = client.events.flatMap((event) => (event.type === 'evidence' ? [event.sources] : []));
      expect(sources.some((of) => of.length > 1)).toBe(true);
    },
    TURN_MS,
  );

  it(
    'that no text answers ends in an abstention with its evidence shown',
    async () => {
      const client = await session();
      speak(client, sampleSound('off-corpus'));
      const answer = await client.waitFor('answer.done', LONG);
      expect(answer.abstained).toBe(true);
      expect(answer.citations).toEqual([]);
      expect(types(client)).toContain('evidence');
      expect((await client.waitFor('turn.done', LONG)).stopReason).not.toBe('failed');
    },
    TURN_MS,
  );
});

describe('a question through other codes', () => {
  it(
    'the same question through Opus and the telephone’s code finds the same text first',
    async () => {
      const bytes = sampleSound('mri-ct');
      const pcm = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 2);
      const encoder = new opus.OpusEncoder(16_000, 1);
      const packets: Uint8Array[] = [];
      for (let at = 0; at + 320 <= pcm.length; at += 320) {
        packets.push(encoder.encode(Buffer.from(pcm.slice(at, at + 320).buffer)));
      }
      const half = (i: number): number => ((pcm[2 * i] ?? 0) + (pcm[2 * i + 1] ?? 0)) / 2;
      const codes = Uint8Array.from({ length: pcm.length >> 1 }, (_, i) => pcmToMuLaw(Math.round(half(i))));
      const first = async (
        audio: Record<string, unknown>,
        messages: Iterable<Uint8Array>,
      ): Promise<string> => {
        const client = await session({ audio });
        for (const message of messages) client.sendBytes(message);
        client.send({ type: 'input_audio.commit' });
        const evidence = await client.waitFor('evidence', LONG);
        await client.waitFor('turn.done', LONG);
        return evidence.items[0]?.documentId ?? 'none';
      };
      const found = {
        pcm: await first({ codec: 'pcm16', rateHz: 16_000 }, [bytes]),
        opus: await first({ codec: 'opus', rateHz: 16_000, frameMs: 20 }, packets),
        mulaw: await first({ codec: 'mulaw', rateHz: 8_000 }, [codes]),
      };
      expect(found).toEqual({ pcm: found.pcm, opus: found.pcm, mulaw: found.pcm });
      expect(found.pcm).not.toBe('none');
    },
    TURN_MS,
  );
});

describe('a typed question to the real server', () => {
  it(
    'is answered from the text that it names',
    async () => {
      const client = await session();
      client.send({ type: 'question.text', text: 'How long should a burn be cooled under running water?' });
      const answer = await client.waitFor('answer.done', LONG);
      expectCitationsPointAtEvidence(client, answer);
      const evidence = await client.waitFor('evidence', LONG);
      expect(evidence.items[0]?.text.toLowerCase()).toContain('burn');
    },
    TURN_MS,
  );
});

describe('bad sound', () => {
  const noise = (): Uint8Array => {
    let state = 1;
    const samples = Int16Array.from({ length: 16_000 }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return ((state / 2 ** 32) * 2 - 1) * 4_000;
    });
    return new Uint8Array(samples.buffer);
  };
  const speech = sampleSound('stroke-signs');

  it.each<[string, Uint8Array]>([
    ['three seconds of silence', new Uint8Array(96_000)],
    ['a second of noise', noise()],
    ['an empty message', new Uint8Array(0)],
    ['50 ms of speech', speech.slice(32_000, 33_600)],
  ])(
    '%s is rejected, nothing is looked up, and the session goes on',
    async (_what, sound) => {
      const client = await session();
      if (sound.length === 0) client.sendBytes(sound);
      const from = speak(client, sound);
      const rejected = await client.waitFor('turn.rejected', { from, ...LONG });
      expect(['too_short', 'noise']).toContain(rejected.reason);
      expect(rejected.message).toMatch(/speak|try/);
      expect(types(client, from)).not.toContain('evidence');
      await expectItGoesOn(client);
    },
    TURN_MS,
  );

  it(
    'a container where raw samples were declared is a typed error, and raw sound after it is heard',
    async () => {
      const client = await session();
      client.sendBytes(Buffer.concat([Buffer.from('OggS'), Buffer.alloc(636, 7)]));
      const error = await client.waitFor('error', LONG);
      expect(error.code).toBe('unsupported_audio');
      const from = speak(client, sampleSound('stroke-signs'));
      await client.waitFor('evidence', { from, ...LONG });
      await client.waitFor('turn.done', { from, ...LONG });
    },
    TURN_MS,
  );

  it.each<[string, Record<string, unknown>, string]>([
    ['4 kHz PCM', { codec: 'pcm16', rateHz: 4_000 }, 'bad_message'],
    ['three channels', { codec: 'pcm16', channels: 3 }, 'bad_message'],
    ['an unknown codec', { codec: 'mp3' }, 'bad_message'],
  ])(
    'a start with %s names the field, and a second start is accepted',
    async (_what, audio, code) => {
      const client = await connect();
      client.start({ id: 'one', audio });
      const error = await client.waitFor('error', LONG);
      expect(error).toMatchObject({ code, replyTo: 'one' });
      expect(error.message).toContain('audio');
      client.start({ queryMode: 'speech' });
      await client.waitFor('session.ready', LONG);
    },
    TURN_MS,
  );

  it(
    'Opus at 44.1 kHz is a typed error, and typed questions still work',
    async () => {
      const client = await session({ audio: { codec: 'opus', rateHz: 44_100 } });
      client.sendBytes(new Uint8Array([0x78, 1, 2, 3]));
      expect((await client.waitFor('error', LONG)).code).toBe('unsupported_audio');
      await expectItGoesOn(client);
    },
    TURN_MS,
  );
});

describe('bad messages', () => {
  it(
    'no JSON, an unknown type, a wrong field and a second start: a typed error each, and the session goes on',
    async () => {
      const client = await session();
      client.sendText('{"type": ');
      client.send({ type: 'session.explode', id: 'two' });
      client.send({ type: 'question.text', text: '', id: 'three' });
      client.start({ id: 'four' });
      await expectItGoesOn(client);
      const errors = client.events.flatMap((event) =>
        event.type === 'error' ? [{ code: event.code, replyTo: event.replyTo }] : [],
      );
      expect(errors).toEqual([
        { code: 'bad_message', replyTo: undefined },
        { code: 'unknown_type', replyTo: 'two' },
        { code: 'bad_message', replyTo: 'three' },
        { code: 'wrong_state', replyTo: 'four' },
      ]);
    },
    TURN_MS,
  );

  it(
    'another version of the protocol is refused with its code, and the next socket is served',
    async () => {
      const client = await connect();
      client.send({ type: 'session.start', version: 99 });
      expect((await client.waitFor('error', LONG)).code).toBe('unsupported_version');
      expect((await client.waitForClose(60_000)).code).toBe(4400);
      await expectItGoesOn(await session());
    },
    TURN_MS,
  );
});
