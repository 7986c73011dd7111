import { AUDIO_FRAME_KINDS, type AudioFrame } from '../../shared/audio-frame.js';
import { BYTES_PER_MS, MULAW_SILENCE } from './twilio-message.js';

/** Differences of timestamps below this are jitter of the clock, not lost sound, milliseconds. */
const JITTER_MS = 10;

export interface TelephoneInput {
  /** The sound of one packet, with the silence that was lost before it; `restarted` when its time went back. */
  take(timestampMs: number, payload: Uint8Array): { readonly frame: AudioFrame; readonly restarted: boolean };
}

/**
 * Makes one unbroken stream out of timestamped packets: what is missing becomes silence of that length, at most `gapFillMs`,
 * never a splice; a time that goes back begins a new stretch.
 */
export function createTelephoneInput(gapFillMs: number): TelephoneInput {
  let expectedMs: number | null = null;
  let previousMs = -1;
  let sampleIndex = 0;
  let sequence = 0;
  return {
    take(timestampMs, payload) {
      const restarted = timestampMs < previousMs;
      const missingMs = expectedMs === null || restarted ? 0 : timestampMs - expectedMs;
      const silenceMs = missingMs < JITTER_MS ? 0 : Math.min(missingMs, gapFillMs);
      const bytes = new Uint8Array(silenceMs * BYTES_PER_MS + payload.byteLength).fill(MULAW_SILENCE);
      bytes.set(payload, silenceMs * BYTES_PER_MS);
      const frame = {
        kind: AUDIO_FRAME_KINDS.inputAudio,
        flags: 0,
        sequence: sequence++,
        sampleIndex,
        payload: bytes,
      };
      sampleIndex += bytes.byteLength;
      previousMs = timestampMs;
      expectedMs = timestampMs + payload.byteLength / BYTES_PER_MS;
      return { frame, restarted };
    },
  };
}
