import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSampleRing } from '../../server/audio/sample-ring.js';

describe('the sample ring', () => {
  it('reads by absolute index, across its own end', () => {
    const ring = createSampleRing(4);
    ring.write(Float32Array.of(1, 2, 3));
    ring.write(Float32Array.of(4, 5));
    expect(ring.read(1, 5)).toEqual({ samples: Float32Array.of(2, 3, 4, 5), startSample: 1, missing: 0 });
  });

  it('says what was overwritten or has not come yet', () => {
    const ring = createSampleRing(4);
    ring.write(Float32Array.of(1, 2, 3, 4, 5, 6));
    expect(ring.read(0, 4)).toEqual({ samples: Float32Array.of(3, 4), startSample: 2, missing: 2 });
    expect(ring.read(5, 9)).toEqual({ samples: Float32Array.of(6), startSample: 5, missing: 3 });
    expect(ring.read(7, 9)).toMatchObject({ samples: new Float32Array(0), missing: 2 });
  });

  it('gives copies that later writes do not change', () => {
    const ring = createSampleRing(2);
    ring.write(Float32Array.of(1, 2));
    const { samples } = ring.read(0, 2);
    ring.write(Float32Array.of(3, 4));
    expect(samples).toEqual(Float32Array.of(1, 2));
  });

  it('counts on from where it was reset', () => {
    const ring = createSampleRing(8);
    ring.write(Float32Array.of(1, 2));
    ring.reset(100);
    ring.write(Float32Array.of(7));
    expect([ring.startSample, ring.endSample]).toEqual([100, 101]);
    expect(ring.read(98, 101)).toEqual({ samples: Float32Array.of(7), startSample: 100, missing: 2 });
  });

  it('holds exactly what an ever-growing array would, for any writes and reads', () => {
    const writes = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 30 });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        writes,
        fc.nat(200),
        fc.nat(30),
        (capacity, sizes, start, length) => {
          const ring = createSampleRing(capacity);
          const all: number[] = [];
          for (const size of sizes) {
            const piece = Array.from({ length: size }, (_, n) => all.length + n + 1);
            all.push(...piece);
            ring.write(Float32Array.from(piece));
          }
          const from = Math.min(Math.max(start, all.length - capacity), all.length);
          const expected = all.slice(Math.max(from, 0), Math.max(from, start + length));
          const span = ring.read(start, start + length);
          expect([...span.samples]).toEqual(expected);
          expect(span.missing).toBe(length - expected.length);
        },
      ),
    );
  });
});
