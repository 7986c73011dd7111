import { AuscultError } from '../errors.js';

/** log p(c | a, b) of sub-word units; unit 0 stands for both ends of a sentence. */
export interface UnitTrigram {
  logProbability(a: number, b: number, c: number): number;
}

/**
 * Reads the table that models/build/beam.py writes: little-endian; uint32 K; float32[K] log p(c); float32[K] back-off of b;
 * then bigrams, trigrams and back-offs of (a, b), each as uint32 n, float64[n] ascending keys, float32[n] values.
 * Smoothing by Witten and Bell (1991) is already in the numbers. Errors: `model_corrupt`.
 */
export function readUnitTrigram(bytes: Uint8Array): UnitTrigram {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const units = view.getUint32(0, true);
    const floats = (at: number, count: number) =>
      Float32Array.from({ length: count }, (_, i) => view.getFloat32(at + 4 * i, true));
    const single = floats(4, units);
    const backOff = floats(4 + 4 * units, units);
    let at = 4 + 8 * units;
    const table = (): Map<number, number> => {
      const count = view.getUint32(at, true);
      const values = at + 4 + 8 * count;
      const map = new Map<number, number>();
      for (let i = 0; i < count; i += 1)
        map.set(view.getFloat64(at + 4 + 8 * i, true), view.getFloat32(values + 4 * i, true));
      at = values + 4 * count;
      return map;
    };
    const [bigrams, trigrams, pairBackOff] = [table(), table(), table()];
    if (at !== bytes.byteLength) throw new RangeError('bytes are left over');
    return {
      logProbability(a, b, c) {
        const pair = a * units + b;
        const whole = trigrams.get(pair * units + c);
        if (whole !== undefined) return whole;
        const lower = bigrams.get(b * units + c) ?? (backOff[b] ?? 0) + (single[c] ?? 0);
        return (pairBackOff.get(pair) ?? 0) + lower;
      },
    };
  } catch (cause) {
    throw new AuscultError('model_corrupt', {
      message: 'The unit trigram cannot be read; restore it from a fresh checkout.',
      cause,
    });
  }
}
