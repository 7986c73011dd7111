import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TraceSink } from '../../server/trace/trace-sink.js';
import type { TurnTrace } from '../../server/trace/trace.js';

export const DAY_MS = 86_400_000;

/** A record as small as it can be. */
export function traceOf(traceId: string, more: Partial<TurnTrace> = {}): TurnTrace {
  return {
    traceId,
    turnId: `turn-${traceId}`,
    sessionId: 'session-1',
    runId: 'run-1',
    startedWallMs: Date.UTC(2026, 4, 1),
    source: 'text',
    audioId: null,
    audioMs: null,
    windows: [],
    queryMode: 'text',
    contract: 'open',
    retrieval: { k: 8, fusion: 'zscore', maxRounds: 2 },
    rounds: [],
    calls: { generate: 1, judge: 1, retrieve: 1, encode: 1 },
    answer: 'An answer with "quotes"\nand a line break.',
    parsed: null,
    citations: [],
    stopReason: 'answered',
    timings: {} as TurnTrace['timings'],
    events: [],
    ...more,
  };
}

/** What every trace sink does. */
export function traceSinkContract(name: string, open: () => Promise<TraceSink>): void {
  describe(`trace sink contract: ${name}`, () => {
    let sink: TraceSink;
    beforeEach(async () => {
      sink = await open();
    });
    afterEach(() => sink.close());

    it('gives back what was written, whole, and null for what was not', async () => {
      await sink.write(traceOf('a'));
      await sink.write(traceOf('b', { answer: null }));
      expect(await sink.read('a')).toEqual(traceOf('a'));
      expect(await sink.read('b')).toEqual(traceOf('b', { answer: null }));
      expect(await sink.read('c')).toBeNull();
    });

    it('keeps many records that are written at once apart', async () => {
      await Promise.all(Array.from({ length: 50 }, (_, i) => sink.write(traceOf(`t${i}`))));
      for (let i = 0; i < 50; i += 1) expect((await sink.read(`t${i}`))?.traceId).toBe(`t${i}`);
    });

    it('forgets the records of a session and nothing else', async () => {
      await sink.write(traceOf('a'));
      await sink.write(traceOf('b', { sessionId: 'session-2' }));
      expect(await sink.remove({ sessionId: 'session-1' })).toBe(1);
      expect(await sink.read('a')).toBeNull();
      expect(await sink.read('b')).not.toBeNull();
    });

    it('forgets records that are older than a time', async () => {
      const now = Date.UTC(2026, 4, 10);
      await sink.write(traceOf('old', { startedWallMs: now - 9 * DAY_MS }));
      await sink.write(traceOf('new', { startedWallMs: now - DAY_MS }));
      expect(await sink.remove({ olderThanWallMs: now - 7 * DAY_MS })).toBe(1);
      expect(await sink.read('old')).toBeNull();
      expect(await sink.read('new')).not.toBeNull();
    });
  });
}
