/** What was read: `samples` begins at `startSample`, which is later than asked when the ring no longer holds the beginning. */
export interface RingSpan {
  readonly samples: Float32Array;
  readonly startSample: number;
  /** Samples asked for that were overwritten already or have not come yet. */
  readonly missing: number;
}

/** The last so many samples of a stream, addressed by their index from its start. Memory never grows. */
export interface SampleRing {
  readonly capacity: number;
  /** First index still held. */
  readonly startSample: number;
  /** Index after the last sample written. */
  readonly endSample: number;
  write(samples: Float32Array): void;
  /** A copy of [start, end), clipped to what is held, saying how much was not. */
  read(start: number, end: number): RingSpan;
  /** Forgets everything; the next sample written has index `nextSample`. */
  reset(nextSample?: number): void;
}

/** A ring of `capacity` samples (≥ 1), allocated once. */
export function createSampleRing(capacity: number): SampleRing {
  const buffer = new Float32Array(capacity);
  let firstSample = 0;
  let endSample = 0;

  const startSample = (): number => Math.max(firstSample, endSample - capacity);
  return {
    capacity,
    get startSample() {
      return startSample();
    },
    get endSample() {
      return endSample;
    },
    write(samples) {
      const kept = samples.subarray(Math.max(0, samples.length - capacity));
      const at = (endSample + samples.length - kept.length) % capacity;
      const untilWrap = Math.min(kept.length, capacity - at);
      buffer.set(kept.subarray(0, untilWrap), at);
      buffer.set(kept.subarray(untilWrap), 0);
      endSample += samples.length;
    },
    read(start, end) {
      const from = Math.min(Math.max(start, startSample()), endSample);
      const to = Math.max(from, Math.min(end, endSample));
      const samples = new Float32Array(to - from);
      const at = from % capacity;
      const untilWrap = Math.min(samples.length, capacity - at);
      samples.set(buffer.subarray(at, at + untilWrap));
      samples.set(buffer.subarray(0, samples.length - untilWrap), untilWrap);
      return { samples, startSample: from, missing: Math.max(0, end - start) - samples.length };
    },
    reset(nextSample = 0) {
      firstSample = nextSample;
      endSample = nextSample;
    },
  };
}
