import { describe, expect, it } from 'vitest';
import { LIMITS, type Limits } from '../../shared/limits.js';
import type { SessionStart } from '../../shared/protocol.js';
import {
  createSessionRegistry,
  type EndReason,
  type Heard,
  type ResumableSession,
  type SessionRegistry,
  type SessionSeed,
} from '../../server/transport/session-registry.js';
import type { Connection } from '../../server/transport/connection.js';
import { createFakeClock, settlePromises, type FakeClock } from '../fakes/fake-clock.js';
import { createFakeConnection, type FakeConnection } from '../fakes/fake-connection.js';

/** A session that writes down what happens to it, and says its terminal event when it ends. */
class NotingSession implements ResumableSession {
  readonly notes: string[] = [];
  readonly heard: Heard[] = [];
  connection: Connection | null = null;
  constructor(readonly seed: SessionSeed) {}
  attach(connection: Connection, resume: { readonly lastSeq: number } | null): void {
    this.connection = connection;
    this.notes.push(resume === null ? 'attach' : `resume ${resume.lastSeq}`);
  }
  receive(incoming: Heard): void {
    this.heard.push(incoming);
  }
  detach(): void {
    this.connection = null;
    this.notes.push('detach');
  }
  async end(reason: EndReason): Promise<void> {
    this.notes.push(`end ${reason}`);
    await Promise.resolve();
    this.connection?.send({ type: 'pong', seq: 99, atMs: 0 });
  }
}

interface House {
  readonly clock: FakeClock;
  readonly registry: SessionRegistry;
  readonly sessions: NotingSession[];
  join(options?: { address?: string; subject?: string; resume?: SessionStart['resume'] }): FakeConnection;
}

function house(changed: Partial<Limits> = {}): House {
  const clock = createFakeClock();
  const sessions: NotingSession[] = [];
  const registry = createSessionRegistry({
    clock,
    limits: { ...LIMITS, ...changed },
    createSession(seed) {
      const session = new NotingSession(seed);
      sessions.push(session);
      return session;
    },
  });
  return {
    clock,
    registry,
    sessions,
    join({ resume, ...who } = {}) {
      const connection = createFakeConnection(who);
      registry.accept(connection);
      connection.sends(startEvent(resume));
      return connection;
    },
  };
}

function startEvent(resume?: SessionStart['resume']): SessionStart {
  return {
    type: 'session.start',
    version: 1,
    profile: 'browser',
    audio: { codec: 'pcm16', rateHz: 16_000, channels: 1, frameMs: 20, framing: 'auto' },
    ...(resume === undefined ? {} : { resume }),
  };
}

function only(of: House): NotingSession {
  const [session] = of.sessions;
  if (session === undefined) throw new Error('no session was made');
  return session;
}
const tokenOf = (of: House): string => only(of).seed.resumeToken;
const errorCodes = (connection: FakeConnection): string[] =>
  connection.ofType('error').map((event) => event.code);

describe('a new connection', () => {
  it('begins a session with its start, and hands over what it hears, in order', () => {
    const all = house();
    const peer = all.join();
    peer.sendsAudio(new Uint8Array([1]));
    peer.sends({ type: 'ping' });
    expect(only(all).notes).toEqual(['attach']);
    expect(only(all).heard.map((incoming) => incoming.kind)).toEqual(['audio', 'event']);
    expect(all.registry.sessions).toBe(1);
  });

  it('may send sound before its start, which waits in order', () => {
    const all = house();
    const peer = createFakeConnection();
    all.registry.accept(peer);
    peer.sendsAudio(new Uint8Array([1]));
    peer.sendsAudio(new Uint8Array([2]));
    peer.sends(startEvent());
    peer.sendsAudio(new Uint8Array([3]));
    const fills = only(all).heard.map((incoming) => incoming.kind === 'audio' && incoming.bytes[0]);
    expect(fills).toEqual([1, 2, 3]);
  });

  it('that sends more sound than fits before its start is refused with a code', () => {
    const all = house({ audioMessageBytes: 1_000 });
    const peer = createFakeConnection();
    all.registry.accept(peer);
    peer.sendsAudio(new Uint8Array(1_000));
    expect(peer.closedWith).toBeNull();
    peer.sendsAudio(new Uint8Array(1));
    expect(errorCodes(peer)).toEqual(['audio_before_ready']);
    expect(peer.closedWith?.code).toBe(1008);
    expect(all.sessions).toEqual([]);
  });

  it('hears what was wrong before its start and may try again; another version ends it', () => {
    const all = house();
    const peer = createFakeConnection();
    all.registry.accept(peer);
    peer.sends({ type: 'ping', id: 'p' });
    peer.sendsInvalid({ code: 'unknown_type', message: 'no such event', replyTo: 'q' });
    expect(errorCodes(peer)).toEqual(['wrong_state', 'unknown_type']);
    expect(peer.ofType('error').map((event) => event.replyTo)).toEqual(['p', 'q']);
    peer.sends(startEvent());
    expect(all.registry.sessions).toBe(1);

    const older = createFakeConnection();
    all.registry.accept(older);
    older.sendsInvalid({ code: 'unsupported_version', message: 'this server speaks 1' });
    expect([errorCodes(older), older.closedWith?.code]).toEqual([['unsupported_version'], 4400]);
  });

  it('leaves nothing behind when its session cannot begin', async () => {
    const clock = createFakeClock();
    const registry = createSessionRegistry({
      clock,
      limits: LIMITS,
      createSession: (seed) =>
        Object.assign(new NotingSession(seed), {
          attach() {
            throw new Error('a mistake of ours');
          },
        }),
    });
    const peer = createFakeConnection();
    registry.accept(peer);
    expect(() => peer.sends(startEvent())).toThrow('a mistake of ours');
    await settlePromises();
    expect([registry.sessions, clock.pending]).toEqual([0, 0]);
  });
});

describe('a session whose socket is lost', () => {
  it('is resumed within 30 s by its token, and told what was seen', async () => {
    const all = house();
    all.join().leaves(1006);
    expect(all.registry.detached).toBe(1);
    await all.clock.advance(29_999);
    const back = all.join({ resume: { resumeToken: tokenOf(all), lastSeq: 41 } });
    await all.clock.advance(100_000);
    expect(only(all).notes).toEqual(['attach', 'detach', 'resume 41']);
    expect(only(all).connection).toBe(back);
    expect([all.registry.sessions, all.registry.detached]).toEqual([1, 0]);
  });

  it('is gone after 30 s, and cannot be resumed', async () => {
    const all = house();
    all.join().leaves(1006);
    await all.clock.advance(30_000);
    expect(only(all).notes).toEqual(['attach', 'detach', 'end expired']);
    const late = all.join({ resume: { resumeToken: tokenOf(all), lastSeq: 0 } });
    expect(errorCodes(late)).toEqual(['resume_refused']);
    expect([all.registry.sessions, all.clock.pending]).toEqual([0, 0]);
  });

  it('a refused resumption may start anew on the same socket', () => {
    const all = house();
    const peer = all.join({ resume: { resumeToken: 'never given', lastSeq: 0 } });
    expect(errorCodes(peer)).toEqual(['resume_refused']);
    peer.sends(startEvent());
    expect(all.registry.sessions).toBe(1);
  });

  it.each([1000, 1001])('is over at once when the peer says goodbye with %i', async (code) => {
    const all = house();
    all.join().leaves(code);
    await settlePromises();
    expect(only(all).notes).toEqual(['attach', 'detach', 'end closed']);
    expect([all.registry.sessions, all.clock.pending]).toEqual([0, 0]);
  });

  it('may be resumed by nobody else, even with its token', () => {
    const all = house();
    all.join({ subject: 'ward 3' }).leaves(1006);
    const thief = all.join({ subject: 'ward 4', resume: { resumeToken: tokenOf(all), lastSeq: 0 } });
    expect(errorCodes(thief)).toEqual(['resume_refused']);
    expect(only(all).connection).toBeNull();
  });
});

describe('two sockets and one session', () => {
  it('the second replaces the first, which is closed with 4409 and no longer heard', () => {
    const all = house();
    const first = all.join();
    const second = all.join({ resume: { resumeToken: tokenOf(all), lastSeq: 3 } });
    expect(first.closedWith?.code).toBe(4409);
    expect(second.closedWith).toBeNull();
    first.sends({ type: 'ping' });
    second.sendsAudio(new Uint8Array([1]));
    expect(only(all).notes).toEqual(['attach', 'detach', 'resume 3']);
    expect(only(all).heard.map((incoming) => incoming.kind)).toEqual(['audio']);
  });

  it('sessions never share a socket or a token', () => {
    const all = house();
    for (let n = 0; n < 50; n += 1) all.join();
    expect(new Set(all.sessions.map((session) => session.seed.resumeToken)).size).toBe(50);
    expect(new Set(all.sessions.map((session) => session.connection)).size).toBe(50);
  });
});

describe('caps', () => {
  it('the sessions of one address are limited with 4429; others are not affected', () => {
    const all = house({ sessionsPerAddress: 2 });
    all.join({ address: '10.0.0.1' });
    all.join({ address: '10.0.0.1' });
    const third = all.join({ address: '10.0.0.1' });
    expect([errorCodes(third), third.closedWith?.code]).toEqual([['limit_exceeded'], 4429]);
    expect(all.join({ address: '10.0.0.2' }).closedWith).toBeNull();
  });

  it('sessions in all are limited', () => {
    const all = house({ sessions: 1 });
    all.join({ address: '10.0.0.1' });
    expect(all.join({ address: '10.0.0.2' }).closedWith?.code).toBe(4429);
  });

  it('one that waits for its peer makes room for one that is there', async () => {
    const all = house({ sessionsPerAddress: 2 });
    all.join().leaves(1006);
    all.join();
    expect(all.join().closedWith).toBeNull();
    await settlePromises();
    expect(only(all).notes).toEqual(['attach', 'detach', 'end expired']);
    expect(all.registry.sessions).toBe(2);
  });

  it('a session ends after an hour with 4429', async () => {
    const all = house();
    const peer = all.join();
    await all.clock.advance(3_600_000);
    expect([only(all).notes, peer.closedWith?.code]).toEqual([['attach', 'end too_long'], 4429]);
    expect(all.clock.pending).toBe(0);
  });

  it('a session that ends by itself cannot be resumed', () => {
    const all = house();
    all.join();
    only(all).seed.ended();
    expect(all.registry.sessions).toBe(0);
    const late = all.join({ resume: { resumeToken: tokenOf(all), lastSeq: 0 } });
    expect(errorCodes(late)).toEqual(['resume_refused']);
  });
});

describe('draining', () => {
  it('closes each socket with 1001 after its terminal event, and takes no more', async () => {
    const all = house();
    const peers = [all.join(), all.join()];
    const lost = all.join();
    lost.leaves(1006);
    await all.registry.drain();
    for (const peer of peers) {
      expect(peer.closedWith?.code).toBe(1001);
      expect(peer.events.map((event) => event.type)).toEqual(['pong']);
    }
    expect(all.sessions.map((session) => session.notes.at(-1))).toEqual([
      'end draining',
      'end draining',
      'end draining',
    ]);
    expect([all.registry.sessions, all.clock.pending]).toEqual([0, 0]);
    const late = createFakeConnection();
    all.registry.accept(late);
    expect(late.closedWith?.code).toBe(1001);
  });

  it('a session that fails while it ends stops nobody else', async () => {
    const clock = createFakeClock();
    const registry = createSessionRegistry({
      clock,
      limits: LIMITS,
      createSession: (seed) =>
        Object.assign(new NotingSession(seed), { end: () => Promise.reject(new Error('no')) }),
    });
    const peer = createFakeConnection();
    registry.accept(peer);
    peer.sends(startEvent());
    await registry.drain();
    expect(peer.closedWith?.code).toBe(1001);
  });
});
