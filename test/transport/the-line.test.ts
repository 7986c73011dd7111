import { afterEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../../shared/limits.js';
import type { OutgoingEvent } from '../../shared/protocol.js';
import type { Connection } from '../../server/transport/connection.js';
import type { HttpServer } from '../../server/transport/http-server.js';
import { createResumeBuffer } from '../../server/transport/resume-buffer.js';
import {
  createSessionRegistry,
  type ResumableSession,
  type SessionRegistry,
  type SessionSeed,
} from '../../server/transport/session-registry.js';
import { createFakeClock, type FakeClock } from '../fakes/fake-clock.js';
import { startChaosProxy, type ChaosProxy } from '../fixtures/chaos-proxy.js';
import { connectLive } from '../fixtures/live-client.js';
import { startLiveServer } from '../fixtures/live-server.js';
import { until } from '../fixtures/until.js';

/** A session that says a number for each ping, and can be resumed: what the line is tried with. */
class CountingSession implements ResumableSession {
  readonly buffer = createResumeBuffer({ maxEvents: 100, maxCharacters: 10_000_000 });
  connection: Connection | null = null;
  audioBytes = 0;
  ended: string | null = null;
  constructor(readonly seed: SessionSeed) {}
  say(event: OutgoingEvent): void {
    // Numbered and kept whether or not anybody is there to hear it.
    const stamped = this.buffer.stamp(event, 0);
    this.connection?.send(stamped);
  }
  attach(connection: Connection, resume: { readonly lastSeq: number } | null): void {
    this.connection = connection;
    if (resume === null) return this.say({ type: 'input.paused', turnId: this.seed.resumeToken });
    for (const event of this.buffer.replayAfter(resume.lastSeq).events) connection.send(event);
  }
  receive(incoming: { readonly kind: string; readonly bytes?: Uint8Array }): void {
    this.audioBytes += incoming.bytes?.byteLength ?? 0;
    if (incoming.kind === 'event') this.say({ type: 'gap', ms: this.buffer.lastSeq });
  }
  detach(): void {
    this.connection = null;
  }
  async end(reason: string): Promise<void> {
    this.ended = reason;
  }
}

interface House {
  readonly server: HttpServer;
  readonly proxy: ChaosProxy;
  readonly registry: SessionRegistry;
  readonly sessions: CountingSession[];
  /** Through the proxy. */
  readonly url: string;
}

let house: House | null = null;
afterEach(async () => {
  await house?.proxy.close();
  await house?.server.close();
  house = null;
});

async function open(clock?: FakeClock): Promise<House> {
  const sessions: CountingSession[] = [];
  const base = await startLiveServer({
    drainDeadlineMs: 0,
    ...(clock ? { clock } : {}),
    onConnection: (connection) => registry.accept(connection),
  });
  const registry = createSessionRegistry({
    clock: clock ?? { nowMs: () => performance.now(), wallMs: () => 0, after: (ms, task) => later(ms, task) },
    limits: LIMITS,
    createSession(seed) {
      const session = new CountingSession(seed);
      sessions.push(session);
      return session;
    },
  });
  const proxy = await startChaosProxy(base.port);
  return (house = { server: base, proxy, registry, sessions, url: `http://127.0.0.1:${proxy.port}` });
}
function later(ms: number, task: () => void): () => void {
  const timer = setTimeout(task, ms).unref();
  return () => clearTimeout(timer);
}
function only(of: House): CountingSession {
  const [session] = of.sessions;
  if (session === undefined) throw new Error('no session was made');
  return session;
}

describe('the line', () => {
  it('split into single bytes, carries the same events and the same sound', async () => {
    const all = await open();
    all.proxy.split(1);
    const client = await connectLive(all.url);
    client.start();
    client.sendAudio(new Uint8Array(4_000), 641);
    client.send({ type: 'ping' });
    await client.waitFor('gap');
    expect(only(all).audioBytes).toBe(4_000);
    expect(client.events.map((event) => event.seq)).toEqual([0, 1]);
    client.close();
  });

  it('the socket dies in mid-utterance: a new one resumes from lastSeq, and nothing is said twice or lost', async () => {
    const all = await open();
    const client = await connectLive(all.url);
    client.start();
    const { turnId: resumeToken } = await client.waitFor('input.paused');
    client.send({ type: 'ping' });
    await client.waitFor('gap');
    client.sendBytes(new Uint8Array(640));
    all.proxy.cut();
    await client.waitForClose();
    await until(() => all.registry.detached === 1, 'the loss');
    only(all).say({ type: 'pong' });

    const again = await connectLive(all.url);
    again.start({ resume: { resumeToken, lastSeq: 0 } });
    await again.waitFor('pong');
    expect(again.events.map((event) => event.seq)).toEqual([1, 2]);
    expect([all.registry.sessions, all.sessions.length]).toEqual([1, 1]);
    again.close();
    await until(() => all.registry.sessions === 0, 'the goodbye');
    expect(only(all).ended).toBe('closed');
  });

  it('a peer that stops reading without closing is closed with 1013; others are unaffected, and it may come back', async () => {
    const all = await open();
    const slow = await connectLive(all.url);
    slow.start();
    await slow.waitFor('input.paused');
    const other = await connectLive(all.server.url);
    other.start();
    await other.waitFor('input.paused');
    all.proxy.stall('down');
    const session = only(all);
    const closed = (): boolean => session.connection === null;
    for (let sent = 0; sent < 2_000 && !closed(); sent += 1) {
      session.say({ type: 'input.paused', turnId: 'x'.repeat(20_000) });
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(closed, 'the close of the slow one');
    other.send({ type: 'ping' });
    await other.waitFor('gap');
    expect([all.registry.sessions, all.registry.detached]).toEqual([2, 1]);
    other.close();
  });

  it('a peer that vanishes without FIN is gone within two heartbeats, and others stay', async () => {
    const clock = createFakeClock();
    const all = await open(clock);
    const client = await connectLive(all.url);
    client.start();
    await client.waitFor('input.paused');
    all.proxy.blackHole();
    await clock.advance(15_000);
    expect(all.registry.detached).toBe(0);
    await clock.advance(15_000);
    await until(() => all.registry.detached === 1, 'the end of its socket');
    await clock.advance(30_000);
    expect([all.registry.sessions, only(all).ended]).toEqual([0, 'expired']);
  });

  it('a stall of the uplink loses no byte', async () => {
    const all = await open();
    const client = await connectLive(all.url);
    client.start();
    await client.waitFor('input.paused');
    all.proxy.stall('up');
    client.sendAudio(new Uint8Array(200_000), 16_001);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(only(all).audioBytes).toBe(0);
    all.proxy.resume('up');
    await until(() => only(all).audioBytes === 200_000, 'all the sound');
    client.close();
  });

  it('no output crosses sessions, however often their sockets die', async () => {
    const all = await open();
    for (let round = 0; round < 5; round += 1) {
      const clients = await Promise.all(Array.from({ length: 4 }, () => connectLive(all.url)));
      for (const client of clients) client.start();
      const tokens = await Promise.all(
        clients.map(async (client) => (await client.waitFor('input.paused')).turnId),
      );
      expect(new Set(tokens).size).toBe(4);
      all.proxy.cut();
      await Promise.all(clients.map((client) => client.waitForClose()));
      const again = await Promise.all(tokens.map(() => connectLive(all.url)));
      again.forEach((client, at) => client.start({ resume: { resumeToken: tokens[at], lastSeq: 0 } }));
      again.forEach((client) => client.send({ type: 'ping' }));
      await Promise.all(again.map((client) => client.waitFor('gap')));
      for (const client of again) expect(client.events.map((event) => event.seq)).toEqual([1]);
      again.forEach((client) => client.close());
    }
    await until(() => all.registry.sessions === 0, 'the goodbyes');
  });
});
