import { AuscultError } from '../../server/errors.js';
import type { VoiceDetector } from '../../server/audio/voice-detector.js';

export interface FakeVoiceDetectorOptions {
  /** Loudness (peak) from which a window counts as voice; default 0.05. */
  readonly loudness?: number;
  /** Answers of the first windows, whatever is heard: −1 and NaN stand for a detector that warms up. */
  readonly script?: readonly number[];
}

/** Loud is voice (0.95), quiet is none (0.02). Deterministic, no model, answers in order. */
export function createFakeVoiceDetector(options: FakeVoiceDetectorOptions = {}): VoiceDetector {
  const { loudness = 0.05, script = [] } = options;
  let answered = 0;
  let closed = false;
  return {
    windowSamples: 512,
    async detect(window) {
      if (closed) throw new AuscultError('wrong_state', { message: 'The fake detector is closed.' });
      if (window.length !== 512) {
        throw new AuscultError('unsupported_audio', { message: 'A window has 512 samples.' });
      }
      const scripted = script[answered];
      answered += 1;
      const peak = window.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
      return scripted ?? (peak >= loudness ? 0.95 : 0.02);
    },
    reset() {
      answered = 0;
    },
    close() {
      closed = true;
    },
  };
}
