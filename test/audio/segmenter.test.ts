import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { effectiveVad } from '../../server/audio/profiles.js';
import { createSegmenter, type SegmentEvent, type Segmenter } from '../../server/audio/segmenter.js';
import type { VadSettings } from '../../shared/protocol.js';

const WINDOW = 512;
const vad = (wish: Partial<VadSettings> = {}): VadSettings => effectiveVad('browser', wish);
const ms = (value: number): number => value * 16;

/** Says the same probability for so many windows and gives the events; the position is kept in `at`. */
function stream(segmenter: Segmenter) {
  let at = 0;
  const events: SegmentEvent[] = [];
  return {
    events,
    get sample() {
      return at;
    },
    say(windows: number, probability: number | null) {
      for (let n = 0; n < windows; n += 1, at += WINDOW) {
        events.push(...segmenter.push({ sampleIndex: at, probability }));
      }
      return this;
    },
  };
}
const of = <T extends SegmentEvent['type']>(events: readonly SegmentEvent[], type: T) =>
  events.filter((event): event is Extract<SegmentEvent, { type: T }> => event.type === type);

describe('the segmenter', () => {
  it('keeps 400 ms from before the onset, and t0 is the end of the last voiced window', () => {
    const heard = stream(createSegmenter(vad())).say(50, 0.01).say(30, 0.9).say(30, 0.01);
    expect(heard.events).toEqual([
      { type: 'started', sampleIndex: 50 * WINDOW - ms(400), onsetSample: 50 * WINDOW },
      { type: 'speculate', startSample: 50 * WINDOW - ms(400), endSample: 80 * WINDOW + ms(200) },
      {
        type: 'ended',
        startSample: 50 * WINDOW - ms(400),
        endSample: 80 * WINDOW + ms(200),
        lastVoicedSample: 80 * WINDOW,
        voicedMs: 960,
        reason: 'silence',
      },
    ]);
  });

  it('holds on between the thresholds and lets go below the lower one', () => {
    const steady = stream(createSegmenter(vad())).say(10, 0.9).say(60, 0.4).say(1, 0.9);
    expect(of(steady.events, 'ended')).toEqual([]);
    const never = stream(createSegmenter(vad())).say(100, 0.49);
    expect(never.events).toEqual([]);
    const paused = stream(createSegmenter(vad())).say(10, 0.9).say(1, 0.3).say(60, 0.4);
    expect(of(paused.events, 'ended')).toHaveLength(1);
  });

  it('drops the speculation when the voice goes on, and speculates again at the next pause', () => {
    const heard = stream(createSegmenter(vad())).say(20, 0.9).say(8, 0.01).say(20, 0.9).say(20, 0.01);
    expect(heard.events.map((event) => event.type)).toEqual([
      'started',
      'speculate',
      'speculationDropped',
      'speculate',
      'ended',
    ]);
    const [ended] = of(heard.events, 'ended');
    expect(of(heard.events, 'speculate').at(-1)).toMatchObject({
      startSample: ended?.startSample,
      endSample: ended?.endSample,
    });
  });

  it('does not speculate when that is turned off; then a tail of 200 ms is kept', () => {
    const heard = stream(createSegmenter(vad({ speculateMs: 0 })))
      .say(20, 0.9)
      .say(20, 0.01);
    expect(heard.events.map((event) => event.type)).toEqual(['started', 'ended']);
    expect(of(heard.events, 'ended')[0]?.endSample).toBe(20 * WINDOW + ms(200));
  });

  it('rejects what is voiced for less than the least time, and takes a 200 ms "yes"', () => {
    const click = stream(createSegmenter(vad())).say(10, 0.01).say(2, 0.9).say(20, 0.01);
    expect(click.events.map((event) => event.type)).toEqual(['started', 'rejected']);
    expect(of(click.events, 'rejected')[0]).toMatchObject({ reason: 'too_short', voicedMs: 64 });
    const yes = stream(createSegmenter(vad())).say(10, 0.01).say(6, 0.9).say(20, 0.01);
    expect(of(yes.events, 'ended')).toHaveLength(1);
  });

  it('rejects an uncertain murmur and rare flickers as noise', () => {
    const murmur = stream(createSegmenter(vad())).say(30, 0.52).say(20, 0.01);
    expect(of(murmur.events, 'rejected')[0]).toMatchObject({ reason: 'noise' });
    const flicker = stream(createSegmenter(vad()));
    for (let n = 0; n < 8; n += 1) flicker.say(1, 0.9).say(14, 0.01);
    flicker.say(20, 0.01);
    expect(of(flicker.events, 'rejected')[0]).toMatchObject({ reason: 'noise' });
  });

  it('treats a warm-up of −1, NaN or nothing as unknown: the voice that follows is kept from its beginning', () => {
    for (const unknown of [-1, Number.NaN, null, 2]) {
      const heard = stream(createSegmenter(vad())).say(24, unknown).say(20, 0.9).say(17, 0.01);
      expect(of(heard.events, 'started')).toEqual([{ type: 'started', sampleIndex: 0, onsetSample: 0 }]);
      expect(of(heard.events, 'ended')[0]).toMatchObject({ reason: 'silence' });
    }
  });

  it('does not end a turn because the detector starts afresh in it, nor wait for ever if it stays mute', () => {
    const fresh = stream(createSegmenter(vad())).say(20, 0.9).say(24, -1).say(20, 0.9).say(20, 0.01);
    expect(of(fresh.events, 'ended')).toHaveLength(1);
    const mute = stream(createSegmenter(vad())).say(20, 0.9).say(55, null);
    expect(of(mute.events, 'ended')).toHaveLength(1);
  });

  it('makes one turn of a spelled number with the digits setting, several without, losing none', () => {
    const spell = (settings: VadSettings) => {
      const heard = stream(createSegmenter(settings));
      for (let n = 0; n < 10; n += 1) heard.say(8, 0.9).say(19, 0.01);
      return heard.say(40, 0.01).events;
    };
    expect(of(spell(vad({ digits: true })), 'ended')).toHaveLength(1);
    const apart = of(spell(vad()), 'ended');
    expect(apart).toHaveLength(10);
    expect(apart.reduce((sum, event) => sum + event.voicedMs, 0)).toBe(10 * 8 * 32);
  });

  it('takes a changed setting within an open segment', () => {
    const segmenter = createSegmenter(vad());
    const heard = stream(segmenter).say(8, 0.9).say(10, 0.01);
    segmenter.configure(vad({ digits: true }));
    heard.say(20, 0.01).say(8, 0.9);
    expect(of(heard.events, 'ended')).toEqual([]);
    segmenter.configure(vad({ endSilenceMs: 100 }));
    heard.say(4, 0.01);
    expect(of(heard.events, 'ended')).toHaveLength(1);
  });

  it('cuts ten minutes of hold music into segments of at most 30 s, each beginning where the last ended', () => {
    const heard = stream(createSegmenter(vad())).say(18_700, 0.9).say(40, 0.01);
    const ended = of(heard.events, 'ended');
    expect(ended.slice(0, -1).every((event) => event.reason === 'max_duration')).toBe(true);
    expect(ended.at(-1)?.reason).toBe('silence');
    ended.forEach((event, at) => {
      expect(event.endSample - event.startSample).toBeLessThanOrEqual(ms(30_000) + WINDOW);
      if (at > 0) expect(event.startSample).toBe(ended[at - 1]?.endSample);
    });
    heard.say(20, 0.9).say(20, 0.01);
    expect(of(heard.events, 'ended')).toHaveLength(ended.length + 1);
  });

  it('begins nothing when it was quiet after a forced end', () => {
    const heard = stream(createSegmenter(vad({ maxSegmentMs: 1_000 })))
      .say(32, 0.9)
      .say(40, 0.01);
    expect(of(heard.events, 'ended').map((event) => event.reason)).toEqual(['max_duration']);
    expect(of(heard.events, 'rejected')).toEqual([]);
  });

  it('finds an onset 50 ms after the declared end at its true place', () => {
    const heard = stream(createSegmenter(vad()))
      .say(20, 0.9)
      .say(16, 0.01)
      .say(2, 0.01)
      .say(20, 0.9)
      .say(20, 0.01);
    const [first, second] = of(heard.events, 'started');
    expect(first?.onsetSample).toBe(0);
    expect(second?.onsetSample).toBe(38 * WINDOW);
    expect(second?.sampleIndex).toBe(of(heard.events, 'ended')[0]?.endSample);
  });

  it('ends a turn when frames stop, and lets sound that comes later begin a new one', () => {
    const segmenter = createSegmenter(vad());
    const heard = stream(segmenter).say(20, 0.9);
    const idle = segmenter.idle(heard.sample);
    expect(idle).toMatchObject([{ type: 'ended', reason: 'idle', endSample: 20 * WINDOW }]);
    expect(segmenter.idle(heard.sample)).toEqual([]);
    heard.say(20, 0.9);
    expect(of(heard.events, 'started').at(-1)).toMatchObject({ sampleIndex: 20 * WINDOW });
  });

  it('always answers a commit: with the segment, or with a rejection', () => {
    const segmenter = createSegmenter(vad());
    expect(segmenter.commit(100)).toMatchObject([
      { type: 'rejected', reason: 'too_short', endReason: 'commit' },
    ]);
    const heard = stream(segmenter).say(20, 0.55);
    expect(segmenter.commit(heard.sample)).toMatchObject([{ type: 'ended', reason: 'commit' }]);
  });

  it('forgets an open segment on clear, and says that its speculation is of no use', () => {
    const segmenter = createSegmenter(vad());
    stream(segmenter).say(20, 0.9).say(8, 0.01);
    expect(segmenter.clear()).toEqual([{ type: 'speculationDropped' }]);
    expect(segmenter.open).toBe(false);
    expect(segmenter.clear()).toEqual([]);
  });

  it('for any probabilities: starts and ends alternate, segments are ordered, disjoint, non-empty and bounded', () => {
    const probability = fc.oneof(
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.constantFrom(-1, Number.NaN, null),
    );
    const runs = fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), probability), { maxLength: 60 });
    fc.assert(
      fc.property(runs, fc.boolean(), (said, digits) => {
        const segmenter = createSegmenter(vad({ maxSegmentMs: 5_000, digits }));
        const heard = stream(segmenter);
        for (const [windows, value] of said) heard.say(windows, value);
        const events = [...heard.events, ...segmenter.commit(heard.sample)];
        let open = false;
        let end = 0;
        for (const event of events) {
          if (event.type === 'started') {
            expect(open).toBe(false);
            expect(event.sampleIndex).toBeGreaterThanOrEqual(end);
            expect(event.sampleIndex).toBeLessThanOrEqual(event.onsetSample);
            open = true;
          } else if (event.type === 'ended' || event.type === 'rejected') {
            if (!open) expect(event).toMatchObject({ type: 'rejected', endReason: 'commit', voicedMs: 0 });
            else expect(event.endSample).toBeGreaterThan(event.startSample);
            expect(event.startSample).toBeGreaterThanOrEqual(end);
            expect(event.endSample - event.startSample).toBeLessThanOrEqual(ms(5_000) + WINDOW);
            open = false;
            end = event.endSample;
          } else expect(open).toBe(true);
        }
      }),
    );
  });
});

describe('profiles', () => {
  it('gives the browser the stated defaults', () => {
    expect(effectiveVad('browser')).toEqual({
      onThreshold: 0.5,
      offThreshold: 0.35,
      minSpeechMs: 100,
      preRollMs: 400,
      endSilenceMs: 500,
      speculateMs: 200,
      maxSegmentMs: 30_000,
      idleMs: 1_000,
      digits: false,
    });
  });

  it('keeps every wish within its range and the lower threshold below the upper one', () => {
    expect(
      effectiveVad('kiosk', { onThreshold: 7, endSilenceMs: 1, idleMs: 1e9, preRollMs: -5 }),
    ).toMatchObject({
      onThreshold: 0.95,
      endSilenceMs: 100,
      idleMs: 60_000,
      preRollMs: 0,
    });
    expect(effectiveVad('telephone', { onThreshold: 0.2, offThreshold: 0.9 })).toMatchObject({
      onThreshold: 0.2,
      offThreshold: 0.2,
    });
    expect(effectiveVad('browser', { onThreshold: undefined, digits: true })).toMatchObject({
      onThreshold: 0.5,
      digits: true,
    });
  });
});
