import { FRAME_MS, FrameCutter } from './frame-cutter.js';
import type { Timers } from './timers.js';

/** Silence sent after a recording, as a microphone would, so that its end is heard; then the question is committed. */
export const TRAILING_SILENCE_MS = 3_000;

export interface SampleStreamOptions {
  /** Mono samples, −1 … 1, at `rateHz`. */
  readonly samples: Float32Array;
  readonly rateHz: number;
  readonly timers: Timers;
  readonly onFrame: (samples: Int16Array) => void;
  /** The recording and its silence are over and nobody stopped the stream. */
  readonly onEnd: () => void;
}

/**
 * Sends a recording at the speed of speech, in the frames of a microphone; returns what stops it. The clock decides how much is
 * due, so that a page whose timers are slowed in the background catches up.
 */
export function streamSample({ samples, rateHz, timers, onFrame, onEnd }: SampleStreamOptions): () => void {
  const cutter = new FrameCutter(rateHz, onFrame);
  const silence = new Float32Array(cutter.frameSamples);
  const total = samples.length + Math.round((rateHz * TRAILING_SILENCE_MS) / 1_000);
  const startedMs = timers.nowMs();
  let sent = 0;
  let callOff = (): void => undefined;
  const tick = (): void => {
    const due = Math.min(total, ((timers.nowMs() - startedMs) * rateHz) / 1_000);
    while (sent + cutter.frameSamples <= due) {
      const frame = samples.subarray(sent, sent + cutter.frameSamples);
      cutter.push(frame);
      if (frame.length < silence.length) cutter.push(silence.subarray(frame.length));
      sent += cutter.frameSamples;
    }
    if (sent + cutter.frameSamples > total) return onEnd();
    callOff = timers.after(FRAME_MS, tick);
  };
  callOff = timers.after(FRAME_MS, tick);
  return () => callOff();
}

/** Fetches a recording and brings it to one channel at the session's rate; rejects when it is not there or no sound. */
export async function loadSample(url: string, rateHz: number): Promise<Float32Array> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`The recording ${url} is not there (${String(response.status)}).`);
  const offline = new OfflineAudioContext(1, 1, rateHz);
  const buffer = await offline.decodeAudioData(await response.arrayBuffer());
  return buffer.getChannelData(0);
}
