/** Remembers when samples arrived, so that audio time can be told in the clock's time. Bounded: the oldest are forgotten. */
export interface Arrivals {
  /** Everything before `endSample` has arrived at `atMs`. */
  note(endSample: number, atMs: number): void;
  /** When the sample before `sample` arrived; null when that is forgotten or has not happened. */
  timeOf(sample: number): number | null;
}

/** Two minutes of 20 ms messages. */
const KEPT = 6_000;

export function createArrivals(): Arrivals {
  const noted: Array<{ endSample: number; atMs: number }> = [];
  return {
    note(endSample, atMs) {
      noted.push({ endSample, atMs });
      if (noted.length > KEPT * 2) noted.splice(0, noted.length - KEPT);
    },
    timeOf(sample) {
      for (let i = noted.length - 1; i >= 0; i -= 1) {
        const before = noted[i - 1];
        const entry = noted[i];
        if (entry && entry.endSample >= sample && (!before || before.endSample < sample))
          return before || i === 0 ? entry.atMs : null;
      }
      return null;
    },
  };
}
