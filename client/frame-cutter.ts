/** Length of the frames that go over the wire. */
export const FRAME_MS = 20;

/**
 * Cuts a stream of float samples (−1 … 1) that comes in pieces of any size into frames of 20 ms of 16-bit samples. What is
 * louder than full scale is clipped; nothing is lost between pieces.
 */
export class FrameCutter {
  readonly frameSamples: number;
  private frame: Int16Array;
  private filled = 0;

  constructor(
    rateHz: number,
    private readonly onFrame: (samples: Int16Array<ArrayBuffer>) => void,
  ) {
    this.frameSamples = Math.round((rateHz * FRAME_MS) / 1_000);
    this.frame = new Int16Array(this.frameSamples);
  }

  push(samples: Float32Array): void {
    for (const sample of samples) {
      this.frame[this.filled] = toPcm16(sample);
      this.filled += 1;
      if (this.filled < this.frameSamples) continue;
      // A copy goes out, because its buffer is handed to another thread.
      this.onFrame(this.frame.slice());
      this.filled = 0;
    }
  }
}

/** −1 … 1 → −32,768 … 32,767; no number is silence. */
export function toPcm16(sample: number): number {
  if (Number.isNaN(sample)) return 0;
  const clipped = Math.max(-1, Math.min(1, sample));
  return Math.round(clipped < 0 ? clipped * 32_768 : clipped * 32_767);
}

/** Loudness for the eye, 0 … 1: −60 dB is 0, −6 dB and above is 1. */
export function levelOf(samples: Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += (sample / 32_768) ** 2;
  const rms = Math.sqrt(sum / Math.max(1, samples.length));
  const decibels = 20 * Math.log10(Math.max(rms, 1e-6));
  return Math.max(0, Math.min(1, (decibels + 60) / 54));
}
