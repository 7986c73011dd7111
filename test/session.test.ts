import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TERMINAL_EVENTS, sessionStart } from '../shared/protocol.js';
import { evidenceOf } from './fixtures/prompts.js';
import { openSession, pcm16, silence, speech } from './fixtures/live-session.js';

const isTerminal = (type: string): boolean => (TERMINAL_EVENTS as readonly string[]).includes(type);

describe('a session, on fakes and in virtual time', () => {
  it('takes a whole spoken question from sound to cited answer', async () => {
    const session = openSession();
    await session.hears(silence(300), speech(1_200), silence(700));
    await session.advance(50);
    const types = session.types();
    expect(types.filter((type, i) => type !== types[i - 1])).toEqual([
      'session.ready',
      'speech.started',
      'evidence.preview',
      'speech.stopped',
      'turn.started',
      'evidence',
      'grounding',
      'answer.delta',
      'answer.done',
      'turn.done',
    ]);
    const [done] = session.connection.ofType('turn.done');
    expect(done?.timings.endpointSetting).toBe('vad.endSilenceMs');
    expect(done?.timings.encodeSpeculative).toBe(true);
    expect(done?.timings.endpointWaitMs).toBeGreaterThanOrEqual(480);
    expect(done?.timings.endpointWaitMs).toBeLessThanOrEqual(560);
    expect(session.connection.ofType('answer.done')[0]?.citations[0]?.evidenceId).toBe('salt#0');
  });

  it('encodes once when the speculative encoding was right', async () => {
    const session = openSession();
    await session.hears(speech(1_000), silence(700));
    await session.advance(50);
    expect(session.engines.encodedSamples).toHaveLength(1);
  });

  it('encodes again when speech went on after the speculation', async () => {
    const session = openSession();
    await session.hears(speech(1_000), silence(300), speech(500), silence(700));
    await session.advance(50);
    expect(session.connection.ofType('turn.done')).toHaveLength(1);
    expect(session.engines.encodedSamples.length).toBe(2);
    expect(session.engines.encodedSamples[1]).toBeGreaterThan(session.engines.encodedSamples[0] ?? Infinity);
  });

  it('numbers events without a hole and never goes back in time', async () => {
    const session = openSession();
    await session.hears(speech(600), silence(800));
    const { events } = session.connection;
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i));
    expect(events.every(({ atMs }, i) => atMs >= (events[i - 1]?.atMs ?? 0))).toBe(true);
  });

  it('loads no transcriber in mode speech, one in mode speech+words', async () => {
    const strict = openSession({ words: 'what is hypertension', mode: 'speech' });
    await strict.hears(speech(800), silence(700));
    await strict.advance(50);
    expect(strict.connection.ofType('turn.done')).toHaveLength(1);
    expect(strict.engines.transcriberLoads()).toBe(0);
    expect(JSON.stringify(strict.engines.traces)).not.toContain('what is hypertension');

    const words = openSession({ words: 'what is hypertension', mode: 'speech+words' });
    await words.hears(speech(800), silence(700));
    await words.advance(50);
    expect(words.engines.transcriberLoads()).toBe(1);
    const types = words.types();
    expect(types.indexOf('evidence')).toBeLessThan(types.indexOf('transcript'));
    expect(words.connection.ofType('evidence').map(({ sources }) => sources)).toEqual([
      ['speech'],
      ['speech', 'asr'],
    ]);
  });

  it('answers a typed question', async () => {
    const session = openSession();
    session.connection.sends({ type: 'question.text', text: 'What is hypertension?' });
    await session.advance(10);
    expect(session.connection.ofType('turn.started')[0]).toMatchObject({ source: 'text', windows: [] });
    expect(session.connection.ofType('turn.done')[0]?.stopReason).toBe('answered');
  });

  it('hears a 200 ms "yes" as one turn or one rejection, never as nothing', async () => {
    const session = openSession();
    await session.hears(silence(300), speech(200), silence(900));
    await session.advance(50);
    expect(session.types().filter(isTerminal)).toHaveLength(1);
  });

  it('ends a turn on the wall clock when frames stop in mid-speech, and begins a new one when sound comes back', async () => {
    const session = openSession();
    await session.hears(speech(900));
    await session.advance(1_200);
    expect(session.connection.ofType('speech.stopped')[0]?.reason).toBe('idle');
    expect(session.connection.ofType('turn.done')).toHaveLength(1);
    await session.hears(speech(900), silence(700));
    await session.advance(50);
    expect(session.connection.ofType('turn.done')).toHaveLength(2);
  });

  it('says input.stalled once and input.resumed once for a stall of 5 s', async () => {
    const session = openSession();
    await session.hears(speech(600), silence(700));
    await session.advance(5_000);
    await session.hears(silence(200));
    expect(session.connection.ofType('input.stalled')).toHaveLength(1);
    const [resumed] = session.connection.ofType('input.resumed');
    expect(resumed?.stalledMs).toBeGreaterThanOrEqual(5_000);
  });

  it('makes no turn of 30 s of exact zeros, and memory of nothing', async () => {
    const session = openSession();
    await session.hears(silence(30_000));
    expect(session.types()).toEqual(['session.ready']);
  });

  it.each([
    ['one message', [64_000]],
    ['20 ms frames', [640]],
    ['4,063-byte pieces', [4_063]],
    ['1,697-byte pieces', [1_697]],
    ['odd pieces', [641, 1, 3, 7_001]],
  ])('hears the same in %s', async (_, sizes) => {
    const whole = new Uint8Array([...pcm16(300, false), ...pcm16(1_000, true), ...pcm16(700, false)]);
    const run = async (pieces: readonly number[]) => {
      const session = openSession({
        start: { audio: { codec: 'pcm16', rateHz: 16_000, channels: 1, frameMs: 20, framing: 'raw' } },
      });
      for (let at = 0, i = 0; at < whole.length; i += 1) {
        const size = pieces[i % pieces.length] ?? whole.length;
        session.connection.sendsAudio(whole.slice(at, at + size));
        at += size;
      }
      await session.advance(100);
      const shapes = session.connection.events.filter(({ type }) => type !== 'levels');
      return {
        shapes: shapes.map((event) => [event.type, 'speechMs' in event ? event.speechMs : null]),
        samples: session.engines.encodedSamples,
      };
    };
    expect(await run(sizes)).toEqual(await run([640]));
  });

  it('rejects a commit without speech, so that a client never waits for nothing', async () => {
    const session = openSession();
    session.connection.sends({ type: 'input_audio.commit' });
    await session.advance(10);
    expect(session.connection.ofType('turn.rejected')[0]?.reason).toBe('too_short');
  });

  it('answers every cancel, whatever there is to cancel, and says nothing of a turn after its end', async () => {
    const hold = { pace: () => new Promise<void>(() => undefined) };
    const session = openSession({ generator: hold });
    session.connection.sends({ type: 'response.cancel', id: 'c0' });
    session.connection.sends({ type: 'question.text', text: 'What is hypertension?' });
    await session.advance(10);
    session.connection.sends({ type: 'response.cancel', id: 'c1' });
    session.connection.sends({ type: 'response.cancel', id: 'c2' });
    session.connection.sends({ type: 'response.cancel', id: 'c3', turnId: 'unknown' });
    await session.advance(10);
    expect(session.connection.ofType('response.cancel.ignored').map(({ replyTo }) => replyTo)).toEqual([
      'c0',
      'c2',
      'c3',
    ]);
    expect(session.connection.ofType('turn.cancelled').map(({ replyTo }) => replyTo)).toEqual(['c1']);
    const { events } = session.connection;
    const end = events.findIndex(({ type }) => type === 'turn.cancelled');
    const turnId = session.connection.ofType('turn.cancelled')[0]?.turnId;
    expect(events.slice(end + 1).filter((event) => 'turnId' in event && event.turnId === turnId)).toEqual([]);
  });

  it('takes a hundred questions, each cancelled by the next: one terminal event each, never two generations at once', async () => {
    let most = 0;
    const session = openSession({
      generator: {
        pace: async () => {
          most = Math.max(most, session.engines.generator.running);
          await new Promise<void>((resolve) => session.engines.clock.after(5, resolve));
        },
      },
    });
    for (let i = 0; i < 100; i += 1) {
      session.connection.sends({ type: 'question.text', text: `What is hypertension, number ${i}?` });
      if (i % 3 === 0) await session.advance(1);
    }
    await session.advance(1_000);
    expect(most).toBe(1);
    const turns = new Map<string, string[]>();
    for (const event of session.connection.events) {
      if (!('turnId' in event) || !event.turnId) continue;
      turns.set(event.turnId, [...(turns.get(event.turnId) ?? []), event.type]);
    }
    expect(turns.size).toBe(100);
    for (const types of turns.values()) {
      expect(types.filter(isTerminal)).toHaveLength(1);
      expect(isTerminal(types.at(-1) ?? '')).toBe(true);
    }
  });

  it.each([
    [90, 0, 'goes on'],
    [300, 0, 'goes on'],
    [480, 0, 'pauses and resumes'],
    [700, 1, 'cancels once'],
  ])('an interruption of %i ms during an answer cancels %i time(s): %s', async (ms, cancels) => {
    const session = openSession({
      generator: { pace: () => new Promise<void>((resolve) => session.engines.clock.after(1_000, resolve)) },
      rounds: [
        {
          items: [evidenceOf('salt#0', 'Hypertension is lasting high blood pressure. It strains the heart.')],
        },
      ],
    });
    session.connection.sends({ type: 'question.text', text: 'What is hypertension?' });
    await session.advance(50);
    const asked = session.connection.ofType('turn.started')[0]?.turnId;
    await session.hears(speech(ms), silence(800));
    await session.advance(10_000);
    const cancelled = session.connection.ofType('turn.cancelled').filter(({ turnId }) => turnId === asked);
    expect(cancelled).toHaveLength(cancels);
    expect(session.connection.ofType('turn.done').filter(({ turnId }) => turnId === asked)).toHaveLength(
      1 - cancels,
    );
    expect(session.connection.ofType('input.paused')).toHaveLength(ms >= 300 ? 1 : 0);
  });

  it('replays what was missed after the socket died in mid-answer, in order and without crossing sessions', async () => {
    const session = openSession({
      generator: { pace: () => new Promise<void>((resolve) => session.engines.clock.after(500, resolve)) },
    });
    const ready = session.connection.ofType('session.ready')[0];
    session.connection.sends({ type: 'question.text', text: 'What is hypertension?' });
    await session.advance(100);
    const lastSeq = session.connection.events.at(-1)?.seq ?? 0;
    session.connection.leaves();
    await session.advance(3_000);
    const again = session.connect();
    again.sends(
      sessionStart.parse({
        type: 'session.start',
        version: 1,
        resume: { resumeToken: ready?.resumeToken, lastSeq },
      }),
    );
    expect(again.events.map(({ seq }) => seq)).toEqual(again.events.map((_, i) => lastSeq + 1 + i));
    expect(again.events.map(({ type }) => type)).toContain('turn.done');
    expect(again.ofType('session.ready')[0]).toMatchObject({
      resumed: true,
      missedEvents: 0,
      sessionId: ready?.sessionId,
    });
  });

  it('ends with a terminal event on drain, whatever it was doing, and leaves nothing behind', async () => {
    const session = openSession({ generator: { pace: () => new Promise<void>(() => undefined) } });
    session.connection.sends({ type: 'question.text', text: 'What is hypertension?' });
    await session.advance(10);
    const drained = session.drain();
    await session.advance(10);
    await drained;
    expect(session.types().filter(isTerminal)).toEqual(['turn.cancelled']);
    expect(session.connection.closedWith?.code).toBe(1001);
    expect(session.sessions()).toBe(0);
  });

  it('is back to listening in bounded time after an interruption at any moment of a turn', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 60 }),
        fc.constantFrom('cancel', 'question', 'speech', 'leave'),
        fc.integer({ min: 0, max: 20 }),
        async (atMs, kind, encodeMs) => {
          const session = openSession({
            encodeMs,
            words: 'what is hypertension',
            mode: 'speech+words',
            generator: {
              pace: () => new Promise<void>((resolve) => session.engines.clock.after(7, resolve)),
            },
          });
          await session.hears(speech(400), silence(520));
          await session.advance(atMs);
          if (kind === 'cancel') session.connection.sends({ type: 'response.cancel' });
          if (kind === 'question')
            session.connection.sends({ type: 'question.text', text: 'And hypotension?' });
          if (kind === 'speech') await session.hears(speech(700), silence(700));
          if (kind === 'leave') session.connection.leaves(1000);
          await session.advance(2_000);
          if (kind === 'leave') {
            expect(session.sessions()).toBe(0);
            return;
          }
          const started = session.connection.ofType('turn.started').length;
          const ended = session.types().filter(isTerminal).length;
          expect(ended).toBeGreaterThanOrEqual(started);
          session.connection.sends({ type: 'question.text', text: 'Still there?' });
          await session.advance(2_000);
          expect(session.connection.ofType('turn.done').at(-1)?.stopReason).toBe('answered');
        },
      ),
      { numRuns: 60 },
    );
  });

  it('answers bad messages with typed errors and goes on', async () => {
    const session = openSession();
    session.connection.sendsInvalid({ code: 'bad_message', message: 'That is no JSON.' });
    session.connection.sendsInvalid({ code: 'unknown_type', message: 'No such type.', replyTo: 'x' });
    session.connection.sends(sessionStart.parse({ type: 'session.start', version: 1 }));
    session.connection.sends({ type: 'turn.configure', queryMode: 'oracle' });
    session.connection.sends({ type: 'ping', id: 'p' });
    expect(session.connection.ofType('error').map(({ code }) => code)).toEqual([
      'bad_message',
      'unknown_type',
      'wrong_state',
      'bad_message',
    ]);
    expect(session.connection.ofType('pong')).toMatchObject([{ replyTo: 'p' }]);
  });
});
