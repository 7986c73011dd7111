import { describe, expect, it } from 'vitest';
import { LiveConnection, type SocketLike } from '../../client/connection.js';
import type { LineState, LineTrouble } from '../../client/line-state.js';
import { lineLabel, troubleWords } from '../../client/words.js';
import { decodeAudioFrame } from '../../shared/audio-frame.js';
import type { OutgoingEvent, ServerEvent } from '../../shared/protocol.js';
import { createFakeTimers } from '../fakes/fake-timers.js';
import { effectiveConfigOf } from '../fixtures/page-events.js';

class FakeSocket implements SocketLike {
  binaryType = '';
  bufferedAmount = 0;
  onopen: SocketLike['onopen'] = null;
  onmessage: SocketLike['onmessage'] = null;
  onclose: SocketLike['onclose'] = null;
  readonly sent: Array<string | Uint8Array> = [];
  closedWith: number | undefined;
  constructor(
    readonly url: string,
    readonly protocols: string[],
  ) {}
  send(data: string | Uint8Array): void {
    this.sent.push(data);
  }
  close(code?: number): void {
    this.closedWith = code;
  }
  say(event: OutgoingEvent, seq: number): void {
    this.onmessage?.({ data: JSON.stringify({ ...event, seq, atMs: 0 }) });
  }
  json(index: number): Record<string, unknown> {
    return JSON.parse(String(this.sent[index])) as Record<string, unknown>;
  }
}

const ready = (resumed = false): OutgoingEvent => ({
  type: 'session.ready',
  sessionId: 's',
  resumeToken: 'token-of-session',
  resumed,
  missedEvents: 0,
  version: 1,
  config: effectiveConfigOf(),
  limits: {},
  notices: [],
});
const gap = (ms: number): OutgoingEvent => ({ type: 'gap', ms });

function setUp(options: { token?: string; probe?: () => Promise<LineTrouble> } = {}) {
  const sockets: FakeSocket[] = [];
  const timers = createFakeTimers();
  const lines: LineState[] = [];
  const events: ServerEvent[] = [];
  const connection = new LiveConnection({
    url: 'ws://host/v1/live',
    token: () => options.token ?? null,
    wish: () => ({ audio: { rateHz: 44_100 } }),
    openSocket: (url, protocols) => {
      const socket = new FakeSocket(url, protocols);
      sockets.push(socket);
      return socket;
    },
    probe: options.probe ?? (() => Promise.resolve({ kind: 'unreachable' })),
    timers,
  });
  connection.onLine((line) => lines.push(line));
  connection.onEvery((event) => events.push(event));
  const last = (): FakeSocket => {
    const socket = sockets.at(-1);
    if (!socket) throw new Error('no socket was opened');
    return socket;
  };
  return { connection, sockets, timers, lines, events, last };
}

function connected(options: Parameters<typeof setUp>[0] = {}) {
  const page = setUp(options);
  page.connection.connect();
  page.last().onopen?.();
  page.last().say(ready(), 0);
  return page;
}

describe('the page’s connection', () => {
  it('offers its subprotocol, with a token as the two that follow, and starts a session at the device’s rate', () => {
    const { last, connection } = connected({ token: 'secret' });
    expect(last().protocols).toEqual(['auscult.v1', 'bearer', 'secret']);
    expect(last().json(0)).toEqual({ type: 'session.start', version: 1, audio: { rateHz: 44_100 } });
    expect(connection.line).toEqual({ kind: 'open' });
  });

  it('sends sound in framed messages whose sequence and sample index count on', () => {
    const { connection, last } = connected();
    connection.sendAudio(new Int16Array([1, 2, 3]));
    connection.sendAudio(new Int16Array([4]));
    const frames = last()
      .sent.slice(1)
      .map((bytes) => decodeAudioFrame(bytes as Uint8Array));
    expect(frames.map((frame) => [frame?.sequence, frame?.sampleIndex, frame?.payload.length])).toEqual([
      [0, 0, 6],
      [1, 3, 2],
    ]);
  });

  it('resumes after a loss from the last event it saw, drops what is repeated, and counts the sound that was lost', () => {
    const { connection, last, timers, events } = connected();
    last().say(gap(1), 1);
    last().onclose?.({ code: 1006, reason: '' });
    connection.sendAudio(new Int16Array(10));
    timers.pass(500);
    last().onopen?.();
    expect(last().json(0)).toMatchObject({ resume: { resumeToken: 'token-of-session', lastSeq: 1 } });
    last().say(gap(1), 1);
    last().say(gap(2), 2);
    last().say(ready(true), 3);
    expect(events.filter((event) => event.type === 'gap').map((event) => event.ms)).toEqual([1, 2]);
    connection.sendAudio(new Int16Array(1));
    expect(decodeAudioFrame(last().sent[1] as Uint8Array)?.sampleIndex).toBe(10);
  });

  it('begins anew on the same socket when the session cannot be resumed', () => {
    const { last, timers, connection } = connected();
    last().onclose?.({ code: 1006, reason: '' });
    timers.pass(500);
    last().onopen?.();
    last().say({ type: 'error', code: 'resume_refused', message: 'gone', retryable: false }, 0);
    expect(last().json(1)).not.toHaveProperty('resume');
    last().say(ready(), 0);
    expect(connection.line.kind).toBe('open');
  });

  it('does not offer a drained session again', () => {
    const { last, timers, connection } = connected();
    last().onclose?.({ code: 1001, reason: 'draining' });
    expect(lineLabel(connection.line)).toBe('Shutting down');
    timers.pass(500);
    last().onopen?.();
    expect(last().json(0)).not.toHaveProperty('resume');
  });

  it.each([1008, 1009, 4400, 4401, 4409])('does not try again by itself after %i', (code) => {
    const { last, timers, sockets, connection } = connected();
    last().onclose?.({ code, reason: '' });
    timers.pass(600_000);
    expect(sockets).toHaveLength(1);
    expect(connection.line.kind).toBe('refused');
    connection.connect();
    expect(sockets).toHaveLength(2);
  });

  it('waits longer after every failure and says whether the server is away or still loading', async () => {
    const answers: LineTrouble[] = [
      { kind: 'unreachable' },
      { kind: 'not_ready', waitingFor: ['the index'] },
    ];
    const { connection, last, lines, timers, sockets } = setUp({
      probe: () => Promise.resolve(answers.shift() ?? { kind: 'unreachable' }),
    });
    connection.connect();
    last().onclose?.({ code: 1006, reason: '' });
    await Promise.resolve();
    expect(lines.at(-1)).toEqual({ kind: 'waiting', trouble: { kind: 'unreachable' }, retryInMs: 500 });
    timers.pass(500);
    last().onclose?.({ code: 1006, reason: '' });
    await Promise.resolve();
    expect(lines.at(-1)).toMatchObject({ trouble: { kind: 'not_ready' }, retryInMs: 1_000 });
    expect(sockets).toHaveLength(2);
  });

  it('says what a server waits for that took the socket and is not ready', async () => {
    const { connection, last, timers, lines } = setUp({
      probe: () => Promise.resolve({ kind: 'not_ready', waitingFor: ['the ear'] }),
    });
    connection.connect();
    last().onopen?.();
    timers.pass(1_500);
    await Promise.resolve();
    expect(lines.at(-1)).toEqual({ kind: 'connecting', waitingFor: ['the ear'] });
  });

  it('hands typed handlers their events and passes over what it does not know', () => {
    const { connection, last, events } = connected();
    const heard: number[] = [];
    const off = connection.on('gap', (event) => heard.push(event.ms));
    last().say(gap(7), 1);
    last().onmessage?.({ data: '{"type":"from.the.future","seq":2,"atMs":0}' });
    last().onmessage?.({ data: 'no json' });
    off();
    last().say(gap(8), 3);
    expect(heard).toEqual([7]);
    expect(events.map((event) => event.type)).toEqual(['session.ready', 'gap', 'gap']);
  });

  it('has words of its own for every close code of the server', () => {
    const codes = [1000, 1001, 1008, 1009, 1011, 1013, 4400, 4401, 4408, 4409, 4429];
    const words = codes.map((code) => troubleWords({ kind: 'closed', code, reason: '' }));
    expect(new Set(words).size).toBe(codes.length);
    expect(words).not.toContain('The connection broke.');
  });
});
