import { createFrameSpectra, FFT_SAMPLES, SPECTRUM_BINS } from './frame-spectra.js';

/** Mel bands of the ear's input. */
export const MEL_BANDS = 80;
/** Samples between mel frames (10 ms at 16 kHz). */
export const MEL_HOP_SAMPLES = 160;

const RATE_HZ = 16_000;
const POWER_FLOOR = 1e-10;
/** Decades below the loudest value of the window at which everything quieter is held. */
const RANGE_DECADES = 8;
const LOG10_FLOOR = -10;

/** Whisper's log-mel spectrogram, with its tables and buffers made once. Not for concurrent use. */
export interface LogMel {
  /**
   * Samples of one window (16 kHz, −1 … 1, at most `bucketSamples`), zero-padded at the end to `bucketSamples` (a multiple of
   * 160), → log-mel [80, bucketSamples / 160], row-major, written to `out` from `offset` on.
   */
  write(samples: Float32Array, bucketSamples: number, target: { out: Float32Array; offset: number }): void;
}

/**
 * Radford et al. 2022 (Whisper), section 2.2, as its published feature extractor computes it: 25 ms periodic Hann windows every
 * 10 ms, the padded window reflected by 200 samples at both ends, power spectrum, 80 Slaney mel bands from 0 to 8 kHz with area
 * normalisation, log10 of at least 1e-10, held at 8 decades below the maximum of the window, then (x + 4) / 4. The last frame
 * is left out, so n samples give n / 160 frames.
 */
export function createLogMel(): LogMel {
  const bank = createMelBank();
  const spectra = createFrameSpectra();
  let padded = new Float32Array(0);
  const half = FFT_SAMPLES / 2;

  return {
    write(samples, bucketSamples, { out, offset }) {
      const needed = bucketSamples + FFT_SAMPLES;
      if (padded.length !== needed) padded = new Float32Array(needed);
      reflectInto(padded, samples.subarray(0, bucketSamples), bucketSamples);
      const frames = bucketSamples / MEL_HOP_SAMPLES;
      // Frames that hold nothing but padding need no transform.
      const endOfSound =
        samples.length > bucketSamples - half ? frames : frameAfter(samples.length + half, frames);
      let loudest = LOG10_FLOOR;
      for (let frame = 0; frame < endOfSound; frame += 2) {
        const power = spectra.pair(padded, frame * MEL_HOP_SAMPLES, (frame + 1) * MEL_HOP_SAMPLES);
        loudest = Math.max(loudest, bank.write(power, 0, { out, at: offset + frame, stride: frames }));
        if (frame + 1 >= endOfSound) continue;
        const place = { out, at: offset + frame + 1, stride: frames };
        loudest = Math.max(loudest, bank.write(power, SPECTRUM_BINS, place));
      }
      for (let band = 0; band < MEL_BANDS; band += 1) {
        out.fill(LOG10_FLOOR, offset + band * frames + endOfSound, offset + (band + 1) * frames);
      }
      normalise(out, offset, { count: MEL_BANDS * frames, floor: loudest - RANGE_DECADES });
    },
  };
}

/** First frame that begins at or after the padded sample. */
function frameAfter(paddedSample: number, frames: number): number {
  return Math.min(frames, Math.ceil(paddedSample / MEL_HOP_SAMPLES));
}

/** [200 reflected | sound, then zeros | 200 reflected]; the border sample itself is not repeated. */
function reflectInto(padded: Float32Array, samples: Float32Array, bucketSamples: number): void {
  const half = FFT_SAMPLES / 2;
  padded.fill(0);
  padded.set(samples, half);
  const last = half + bucketSamples - 1;
  for (let at = 1; at <= half; at += 1) {
    padded[half - at] = padded[half + at] ?? 0;
    padded[last + at] = padded[last - at] ?? 0;
  }
}

function normalise(
  out: Float32Array,
  offset: number,
  { count, floor }: { count: number; floor: number },
): void {
  for (let at = offset; at < offset + count; at += 1) {
    const value = out[at] ?? 0;
    out[at] = ((value > floor ? value : floor) + 4) / 4;
  }
}

interface MelBank {
  /** Log10 mel energies of one power spectrum; gives the largest. */
  write(power: Float64Array, from: number, place: { out: Float32Array; at: number; stride: number }): number;
}

/** Slaney's mel scale: linear to 1 kHz (3 mels a 200 Hz), logarithmic above; triangles of equal area. Only non-zero weights. */
function createMelBank(): MelBank {
  const edges = melEdgesHz();
  const firsts = new Int32Array(MEL_BANDS);
  const lengths = new Int32Array(MEL_BANDS);
  const weights: number[] = [];
  for (let band = 0; band < MEL_BANDS; band += 1) {
    const [low, centre, high] = [edges[band] ?? 0, edges[band + 1] ?? 0, edges[band + 2] ?? 0];
    const start = weights.length;
    for (let bin = 0; bin < SPECTRUM_BINS; bin += 1) {
      const hz = (bin * RATE_HZ) / FFT_SAMPLES;
      const weight = Math.min((hz - low) / (centre - low), (high - hz) / (high - centre));
      if (weight <= 0) continue;
      if (weights.length === start) firsts[band] = bin;
      weights.push((weight * 2) / (high - low));
    }
    lengths[band] = weights.length - start;
  }
  const flat = Float64Array.from(weights);
  return {
    write(power, from, { out, at, stride }) {
      let loudest = LOG10_FLOOR;
      let cursor = 0;
      for (let band = 0; band < MEL_BANDS; band += 1) {
        const first = from + (firsts[band] ?? 0);
        const length = lengths[band] ?? 0;
        let energy = 0;
        for (let n = 0; n < length; n += 1) energy += (flat[cursor + n] ?? 0) * (power[first + n] ?? 0);
        cursor += length;
        const value = Math.log10(energy > POWER_FLOOR ? energy : POWER_FLOOR);
        out[at + band * stride] = value;
        if (value > loudest) loudest = value;
      }
      return loudest;
    },
  };
}

function melEdgesHz(): number[] {
  const hzPerMel = 200 / 3;
  const kneeHz = 1_000;
  const kneeMel = kneeHz / hzPerMel;
  const logStep = Math.log(6.4) / 27;
  const topMel = kneeMel + Math.log(RATE_HZ / 2 / kneeHz) / logStep;
  return Array.from({ length: MEL_BANDS + 2 }, (_, at) => {
    const mel = (topMel * at) / (MEL_BANDS + 1);
    return mel < kneeMel ? mel * hzPerMel : kneeHz * Math.exp(logStep * (mel - kneeMel));
  });
}
