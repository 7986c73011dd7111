import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OutgoingEvent } from '../../shared/protocol.js';
import { createResumeBuffer } from '../../server/transport/resume-buffer.js';

const pong: OutgoingEvent = { type: 'pong' };
const levels: OutgoingEvent = { type: 'levels', rms: 0, speechProbability: 0 };
const seqs = (events: ReadonlyArray<{ readonly seq: number }>): number[] => events.map((event) => event.seq);

describe('the buffer of a session that may be resumed', () => {
  it('numbers every event from 0, with its time', () => {
    const buffer = createResumeBuffer({ maxEvents: 10, maxCharacters: 10_000 });
    expect(buffer.lastSeq).toBe(-1);
    expect(buffer.stamp(pong, 5)).toEqual({ type: 'pong', seq: 0, atMs: 5 });
    expect(buffer.stamp(levels, 6)).toMatchObject({ type: 'levels', seq: 1, atMs: 6 });
    expect(buffer.lastSeq).toBe(1);
  });

  it('replays what came after the last that was seen, without what may be dropped, and no gap', () => {
    const buffer = createResumeBuffer({ maxEvents: 10, maxCharacters: 10_000 });
    for (const event of [pong, levels, pong, pong]) buffer.stamp(event, 0);
    const { events, gap } = buffer.replayAfter(0);
    expect([seqs(events), gap]).toEqual([[2, 3], 0]);
    expect(buffer.replayAfter(3)).toEqual({ events: [], gap: 0 });
    expect(buffer.replayAfter(99)).toEqual({ events: [], gap: 0 });
  });

  it('keeps the last N events and says how many are lost', () => {
    const buffer = createResumeBuffer({ maxEvents: 3, maxCharacters: 10_000 });
    for (let n = 0; n < 10; n += 1) buffer.stamp(pong, 0);
    expect(seqs(buffer.replayAfter(4).events)).toEqual([7, 8, 9]);
    expect(buffer.replayAfter(4).gap).toBe(2);
    expect(buffer.replayAfter(6).gap).toBe(0);
  });

  it('is bounded in size too, but always keeps the newest', () => {
    const buffer = createResumeBuffer({ maxEvents: 100, maxCharacters: 500 });
    const big: OutgoingEvent = { type: 'input.paused', turnId: 'x'.repeat(400) };
    for (let n = 0; n < 5; n += 1) buffer.stamp(big, 0);
    expect(seqs(buffer.replayAfter(-1).events)).toEqual([4]);
    expect(buffer.replayAfter(-1).gap).toBe(4);
  });

  it('agrees with keeping everything, whatever is sent', () => {
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { maxLength: 60 }),
        fc.integer({ min: 8, max: 20 }),
        fc.integer({ min: -1, max: 60 }),
        (kinds, maxEvents, lastSeq) => {
          const buffer = createResumeBuffer({ maxEvents, maxCharacters: 1_000_000 });
          const all = kinds.map((isPong) => buffer.stamp(isPong ? pong : levels, 0));
          const missed = all.filter((event) => event.type === 'pong' && event.seq > lastSeq);
          const { events, gap } = buffer.replayAfter(lastSeq);
          expect(gap + events.length).toBe(missed.length);
          expect(events).toEqual(missed.slice(gap));
        },
      ),
    );
  });
});
