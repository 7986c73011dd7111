import type { VadSettings } from '../../shared/protocol.js';
import { createArrivals } from './arrivals.js';
import { createSampleRing, type SampleRing } from './sample-ring.js';
import { EAR_RATE_HZ } from './windower.js';

/** The sound of a stream that may still be asked for, by sample index at 16 kHz, and when it came. */
export interface HeardSound {
  readonly endSample: number;
  write(samples: Float32Array, arrivedMs: number): void;
  /** A copy; clipped to what is held. */
  read(startSample: number, endSample: number): Float32Array;
  /** When the sample arrived on the clock; null when that is forgotten. */
  arrivedMs(sample: number): number | null;
  /** Holds as much as these settings may ask for, from now on. */
  resize(vad: VadSettings): void;
}

/** Memory is taken with the first sound: an idle session holds none. */
export function createHeardSound(initial: VadSettings): HeardSound {
  let vad = initial;
  let ring: SampleRing | null = null;
  const arrivals = createArrivals();
  return {
    get endSample() {
      return ring?.endSample ?? 0;
    },
    write(samples, arrivedMs) {
      ring ??= createSampleRing(samplesFor(vad));
      ring.write(samples);
      arrivals.note(ring.endSample, arrivedMs);
    },
    read: (startSample, endSample) => ring?.read(startSample, endSample).samples ?? new Float32Array(0),
    arrivedMs: (sample) => arrivals.timeOf(sample),
    resize(next) {
      vad = next;
      if (ring && ring.capacity < samplesFor(next)) ring = grown(ring, samplesFor(next));
    },
  };
}

/** The longest segment, its pre-roll, and a second in hand. */
function samplesFor(vad: VadSettings): number {
  return Math.ceil(((vad.maxSegmentMs + vad.preRollMs + 1_000) * EAR_RATE_HZ) / 1_000);
}

/** A larger ring with what the smaller one still held, at the same indexes. */
function grown(ring: SampleRing, capacity: number): SampleRing {
  const larger = createSampleRing(capacity);
  const { samples, startSample } = ring.read(ring.startSample, ring.endSample);
  larger.reset(startSample);
  larger.write(samples);
  return larger;
}
