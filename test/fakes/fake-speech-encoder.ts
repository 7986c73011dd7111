import { AuscultError } from '../../server/errors.js';
import type { EncodedWindow, SpeechEncoder } from '../../server/encode/speech-encoder.js';
import { fakeTextVector } from './fake-text-encoder.js';

export interface FakeSpeechEncoder extends SpeechEncoder {
  /** Windows encoded so far, by their length in samples. */
  readonly heard: readonly number[];
}

const FEATURE_DIMENSIONS = 4;

/**
 * Sound → the vector of a text, by a marker: the loudest sample of the window, in hundredths (0.25 → key 25), is looked up in
 * `texts`; what has no text gets a vector of its own that depends on key and length class. Deterministic, no model.
 */
export function createFakeSpeechEncoder(
  texts: Readonly<Record<number, string>> = {},
  dimensions = 64,
): FakeSpeechEncoder {
  const heard: number[] = [];
  let closed = false;
  const encodeOne = (window: Float32Array): EncodedWindow => {
    heard.push(window.length);
    const key = markerOf(window);
    const frames = Math.ceil(window.length / 320);
    return {
      vector: fakeTextVector(texts[key] ?? `unknown sound ${key}`, dimensions),
      features: new Float32Array(frames * FEATURE_DIMENSIONS).fill(key / 100),
      frames,
    };
  };
  return {
    dimensions,
    modelId: 'fake-ear',
    heard,
    async encode(windows, signal) {
      if (closed) throw new AuscultError('wrong_state', { message: 'The fake ear is closed.' });
      for (const window of windows) {
        if (window.length >= 1 && window.length <= 128_000) continue;
        throw new AuscultError('unsupported_audio', { message: 'Give 1 … 128,000 samples.' });
      }
      await Promise.resolve();
      if (signal?.aborted) throw new AuscultError('aborted', { message: 'Cancelled.' });
      return windows.map(encodeOne);
    },
    async close() {
      closed = true;
    },
  };
}

/** Loudest magnitude of a window in hundredths. */
export function markerOf(window: Float32Array): number {
  return Math.round(window.reduce((peak, x) => Math.max(peak, Math.abs(x)), 0) * 100);
}
