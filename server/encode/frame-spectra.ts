/** Samples of one analysis frame (25 ms at 16 kHz). */
export const FFT_SAMPLES = 400;
/** Bins of its spectrum, 0 … 8 kHz. */
export const SPECTRUM_BINS = FFT_SAMPLES / 2 + 1;

/** 400 = 4 · 4 · 5 · 5. */
const RADICES = [4, 4, 5, 5] as const;

export interface FrameSpectra {
  /**
   * Hann-windowed power spectra of the frames that begin at two places of `samples`; [2, 201], row-major, overwritten by the
   * next call. A place whose frame does not fit counts as silence.
   */
  pair(samples: Float32Array, first: number, second: number): Float64Array;
}

/**
 * Two real frames in one complex transform of 400 points (one in the real part, one in the imaginary part; Press et al.,
 * Numerical Recipes, section 12.3), by Stockham's self-sorting mixed-radix algorithm with all tables made once.
 */
export function createFrameSpectra(): FrameSpectra {
  const n = FFT_SAMPLES;
  const hann = Float64Array.from({ length: n }, (_, k) => 0.5 - 0.5 * Math.cos((2 * Math.PI * k) / n));
  const stages = planStages(n);
  const buffers = { re: new Float64Array(n), im: new Float64Array(n) };
  const other = { re: new Float64Array(n), im: new Float64Array(n) };
  const power = new Float64Array(2 * SPECTRUM_BINS);

  return {
    pair(samples, first, second) {
      const both = second + n <= samples.length;
      for (let k = 0; k < n; k += 1) {
        const weight = hann[k] ?? 0;
        buffers.re[k] = weight * (samples[first + k] ?? 0);
        buffers.im[k] = both ? weight * (samples[second + k] ?? 0) : 0;
      }
      let [from, to]: [Complex, Complex] = [buffers, other];
      for (const stage of stages) {
        if (stage.radix === 4) pass4(stage, from, to);
        else pass5(stage, from, to);
        [from, to] = [to, from];
      }
      unpack(from, power);
      return power;
    },
  };
}

interface Complex {
  readonly re: Float64Array;
  readonly im: Float64Array;
}

/** A pass over `groups` butterflies of `stride` interleaved transforms each. */
interface Stage {
  readonly radix: 4 | 5;
  readonly groups: number;
  readonly stride: number;
  /** Twiddles w^(p·q), q = 1 … radix − 1, for p = 0 … groups − 1. */
  readonly cos: Float64Array;
  readonly sin: Float64Array;
}

function planStages(n: number): Stage[] {
  const stages: Stage[] = [];
  let length = n;
  let stride = 1;
  for (const radix of RADICES) {
    const groups = length / radix;
    const turns = groups * (radix - 1);
    const angle = (at: number): number =>
      (-2 * Math.PI * Math.floor(at / (radix - 1)) * ((at % (radix - 1)) + 1)) / length;
    stages.push({
      radix,
      groups,
      stride,
      cos: Float64Array.from({ length: turns }, (_, at) => Math.cos(angle(at))),
      sin: Float64Array.from({ length: turns }, (_, at) => Math.sin(angle(at))),
    });
    length = groups;
    stride *= radix;
  }
  return stages;
}

/* The loops below index typed arrays within their plan's bounds; `as number` spares a branch for every sample, and
   nothing is destructured: an array made for every sample costs more than the arithmetic. */

function pass4({ groups, stride, cos, sin }: Stage, from: Complex, to: Complex): void {
  const { re, im } = from;
  const put = (at: number, real: number, imag: number, turn: number): void => {
    const c = turn < 0 ? 1 : (cos[turn] as number);
    const s = turn < 0 ? 0 : (sin[turn] as number);
    to.re[at] = real * c - imag * s;
    to.im[at] = real * s + imag * c;
  };
  const quarter = groups * stride;
  for (let p = 0; p < groups; p += 1) {
    for (let q = 0; q < stride; q += 1) {
      const a = q + stride * p;
      const b = a + quarter;
      const c = b + quarter;
      const d = c + quarter;
      const sumReAC = (re[a] as number) + (re[c] as number);
      const sumImAC = (im[a] as number) + (im[c] as number);
      const difReAC = (re[a] as number) - (re[c] as number);
      const difImAC = (im[a] as number) - (im[c] as number);
      const sumReBD = (re[b] as number) + (re[d] as number);
      const sumImBD = (im[b] as number) + (im[d] as number);
      const difReBD = (re[b] as number) - (re[d] as number);
      const difImBD = (im[b] as number) - (im[d] as number);
      const y = q + stride * 4 * p;
      put(y, sumReAC + sumReBD, sumImAC + sumImBD, -1);
      put(y + stride, difReAC + difImBD, difImAC - difReBD, 3 * p);
      put(y + 2 * stride, sumReAC - sumReBD, sumImAC - sumImBD, 3 * p + 1);
      put(y + 3 * stride, difReAC - difImBD, difImAC + difReBD, 3 * p + 2);
    }
  }
}

const COS_1 = Math.cos((2 * Math.PI) / 5);
const COS_2 = Math.cos((4 * Math.PI) / 5);
const SIN_1 = Math.sin((2 * Math.PI) / 5);
const SIN_2 = Math.sin((4 * Math.PI) / 5);

function pass5({ groups, stride, cos, sin }: Stage, from: Complex, to: Complex): void {
  const { re, im } = from;
  const put = (at: number, real: number, imag: number, turn: number): void => {
    const c = cos[turn] as number;
    const s = sin[turn] as number;
    to.re[at] = real * c - imag * s;
    to.im[at] = real * s + imag * c;
  };
  const fifth = groups * stride;
  for (let p = 0; p < groups; p += 1) {
    for (let q = 0; q < stride; q += 1) {
      const at = q + stride * p;
      const re0 = re[at] as number;
      const im0 = im[at] as number;
      const b = at + fifth;
      const c = b + fifth;
      const d = c + fifth;
      const e = d + fifth;
      const sumRe1 = (re[b] as number) + (re[e] as number);
      const sumIm1 = (im[b] as number) + (im[e] as number);
      const difRe1 = (re[b] as number) - (re[e] as number);
      const difIm1 = (im[b] as number) - (im[e] as number);
      const sumRe2 = (re[c] as number) + (re[d] as number);
      const sumIm2 = (im[c] as number) + (im[d] as number);
      const difRe2 = (re[c] as number) - (re[d] as number);
      const difIm2 = (im[c] as number) - (im[d] as number);
      const evenRe1 = re0 + COS_1 * sumRe1 + COS_2 * sumRe2;
      const evenIm1 = im0 + COS_1 * sumIm1 + COS_2 * sumIm2;
      const evenRe2 = re0 + COS_2 * sumRe1 + COS_1 * sumRe2;
      const evenIm2 = im0 + COS_2 * sumIm1 + COS_1 * sumIm2;
      const oddRe1 = SIN_1 * difIm1 + SIN_2 * difIm2;
      const oddIm1 = SIN_1 * difRe1 + SIN_2 * difRe2;
      const oddRe2 = SIN_2 * difIm1 - SIN_1 * difIm2;
      const oddIm2 = SIN_2 * difRe1 - SIN_1 * difRe2;
      const y = q + stride * 5 * p;
      to.re[y] = re0 + sumRe1 + sumRe2;
      to.im[y] = im0 + sumIm1 + sumIm2;
      put(y + stride, evenRe1 + oddRe1, evenIm1 - oddIm1, 4 * p);
      put(y + 2 * stride, evenRe2 + oddRe2, evenIm2 - oddIm2, 4 * p + 1);
      put(y + 3 * stride, evenRe2 - oddRe2, evenIm2 + oddIm2, 4 * p + 2);
      put(y + 4 * stride, evenRe1 - oddRe1, evenIm1 + oddIm1, 4 * p + 3);
    }
  }
}

/** Separates the two real frames by symmetry: A = (Z[k] + conj Z[n−k]) / 2, B = (Z[k] − conj Z[n−k]) / 2i. */
function unpack({ re, im }: Complex, power: Float64Array): void {
  for (let k = 0; k < SPECTRUM_BINS; k += 1) {
    const mirror = k === 0 ? 0 : FFT_SAMPLES - k;
    const reK = re[k] as number;
    const imK = im[k] as number;
    const reM = re[mirror] as number;
    const imM = im[mirror] as number;
    const reA = (reK + reM) / 2;
    const imA = (imK - imM) / 2;
    const reB = (imK + imM) / 2;
    const imB = (reM - reK) / 2;
    power[k] = reA * reA + imA * imA;
    power[SPECTRUM_BINS + k] = reB * reB + imB * imB;
  }
}
