import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { windowsOf, windowTimes } from '../../server/audio/windower.js';

describe('windows of an utterance', () => {
  it('keeps 7.999 s and 8.000 s whole and cuts 8.001 s into two full windows', () => {
    expect(windowsOf(127_984)).toEqual([{ startSample: 0, endSample: 127_984 }]);
    expect(windowsOf(128_000)).toEqual([{ startSample: 0, endSample: 128_000 }]);
    expect(windowsOf(128_016)).toEqual([
      { startSample: 0, endSample: 128_000 },
      { startSample: 16, endSample: 128_016 },
    ]);
  });

  it('hears a 14 s question from its first two seconds to its last', () => {
    expect(windowTimes(windowsOf(224_000))).toEqual([
      { startMs: 0, endMs: 8_000 },
      { startMs: 4_000, endMs: 12_000 },
      { startMs: 6_000, endMs: 14_000 },
    ]);
  });

  it('does not repeat the last window of exactly 12 s', () => {
    expect(windowsOf(192_000)).toHaveLength(2);
  });

  it('has no window for no sound', () => {
    expect(windowsOf(0)).toEqual([]);
  });

  it('tiles every length: no gap, none too long, none empty, flush with both ends, no two alike', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000_000 }), (samples) => {
        const windows = windowsOf(samples);
        expect(windows[0]?.startSample).toBe(0);
        expect(windows.at(-1)?.endSample).toBe(samples);
        windows.forEach((window, at) => {
          const before = windows[at - 1];
          expect(window.endSample - window.startSample).toBe(Math.min(samples, 128_000));
          if (!before) return;
          expect(window.startSample).toBeGreaterThan(before.startSample);
          expect(window.startSample).toBeLessThanOrEqual(before.endSample);
          expect(window.startSample - before.startSample).toBeLessThanOrEqual(64_000);
        });
      }),
    );
  });
});
