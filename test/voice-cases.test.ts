import { describe, expect, it } from 'vitest';
import { createIntake } from '../server/audio/intake.js';
import { audioFormat } from '../shared/protocol.js';
import { openSession, pcm16, silence, speech } from './fixtures/live-session.js';

describe('cases of voice systems, on fakes and in virtual time', () => {
  it('two seconds missing between time stamps are two seconds of silence, and two turns', async () => {
    const session = openSession();
    const say = async (fromMs: number, ms: number, loud: boolean): Promise<void> => {
      for (let at = fromMs; at < fromMs + ms; at += 20) {
        session.connection.sendsAudio(pcm16(20, loud), at * 16);
        await session.advance(20);
      }
    };
    await say(0, 1_000, true);
    await say(3_000, 1_000, true);
    await say(4_000, 1_000, false);
    await session.advance(100);
    expect(session.connection.ofType('gap').map(({ ms }) => ms)).toEqual([2_000]);
    expect(session.connection.ofType('turn.started')).toHaveLength(2);
    const [first, second] = session.connection.ofType('speech.started').map(({ speechMs }) => speechMs);
    expect(first).toBeLessThan(64);
    expect(second).toBeGreaterThanOrEqual(2_968);
    expect(second).toBeLessThanOrEqual(3_032);
    const stopped = session.connection.ofType('speech.stopped')[0];
    expect(stopped?.speechMs).toBeGreaterThanOrEqual(968);
    expect(stopped?.speechMs).toBeLessThanOrEqual(1_032);
  });

  it('a message counter that wraps is no gap', async () => {
    const intake = await createIntake(audioFormat.parse({ framing: 'framed' }));
    const taken = [0xffff_fffe, 0xffff_ffff, 0, 1].map((sequence, i) => {
      const payload = pcm16(20, true);
      return intake.take(payload, { kind: 1, flags: 0, sequence, sampleIndex: i * 320, payload });
    });
    intake.close();
    expect(taken.map(({ gapMs, backMs, samples }) => [gapMs, backMs, samples.length])).toEqual(
      taken.map(() => [0, 0, 320]),
    );
  });

  it.each([0, 5, 20, 40, 60, 100])(
    'a peer that leaves %i ms into a turn leaves no work and no session 100 ms later',
    async (atMs) => {
      const session = openSession({
        encodeMs: 30,
        words: 'what is hypertension',
        mode: 'speech+words',
        generator: { pace: () => new Promise<void>((resolve) => session.engines.clock.after(50, resolve)) },
      });
      await session.hears(speech(400), silence(520));
      await session.advance(atMs);
      session.connection.leaves(1_001);
      const said = session.connection.events.length;
      await session.advance(100);
      expect(session.sessions()).toBe(0);
      expect(session.engines.generator.running).toBe(0);
      expect(session.engines.clock.pending).toBe(0);
      const later = session.connection.events.slice(said).map(({ type }) => type);
      expect(later.filter((type) => type !== 'turn.cancelled')).toEqual([]);
    },
  );
});
