import type { AudioFrame } from '../../shared/audio-frame.js';
import { AUDIO_FRAME_KINDS } from '../../shared/audio-frame.js';
import { LIMITS } from '../../shared/limits.js';
import type { AudioFormat } from '../../shared/protocol.js';
import { AuscultError } from '../errors.js';
import { createDecoder } from './decode.js';
import { createResampler } from './resample.js';

/** What one message became. */
export interface Taken {
  /** 16 kHz mono, the silence of a gap included. */
  readonly samples: Float32Array;
  /** Silence written for missing sound, milliseconds; 0 when nothing was missing. */
  readonly gapMs: number;
  /** Sound that lay before what has already been heard, milliseconds: the sender went back, inference starts afresh. */
  readonly backMs: number;
}

/** Messages of one stream, with or without header → one continuous signal at 16 kHz. */
export interface Intake {
  take(bytes: Uint8Array, frame: AudioFrame | null): Taken;
  close(): void;
}

/** Missing or repeated sound up to this is clock jitter, not a gap, milliseconds. */
const JITTER_MS = 1;

/**
 * Framing `auto` is decided by the first message: a header with flags 0 and sequence 0 makes the stream framed. In a framed
 * stream `sampleIndex` is the truth: what is missing becomes silence of that length (at most LIMITS.gapFillMs), never a splice.
 * Errors: `unsupported_audio`, `decode_failed`, `bad_message` for a message without header in a framed stream.
 */
export async function createIntake(format: AudioFormat): Promise<Intake> {
  const decoder = createDecoder(format);
  const resampler = await createResampler(format.rateHz);
  let framed = format.framing === 'auto' ? null : format.framing === 'framed';
  let nextIndex: number | null = null;

  const decide = (frame: AudioFrame | null): boolean => {
    framed ??=
      frame !== null &&
      frame.flags === 0 &&
      frame.kind === AUDIO_FRAME_KINDS.inputAudio &&
      frame.sequence <= 1;
    return framed;
  };

  return {
    take(bytes, frame) {
      if (!decide(frame)) {
        return { samples: resampler.push(decoder.decode(bytes)), gapMs: 0, backMs: 0 };
      }
      if (!frame) {
        throw new AuscultError('bad_message', {
          message: 'A binary message came without the 16-byte header that this stream began with.',
        });
      }
      const missingMs = nextIndex === null ? 0 : ((frame.sampleIndex - nextIndex) * 1_000) / format.rateHz;
      const decoded = decoder.decode(frame.payload);
      nextIndex = frame.sampleIndex + decoded.length;
      const gapMs = missingMs > JITTER_MS ? Math.min(missingMs, LIMITS.gapFillMs) : 0;
      const silence = new Float32Array(Math.round((gapMs * format.rateHz) / 1_000));
      return {
        samples:
          gapMs > 0 ? joined(resampler.push(silence), resampler.push(decoded)) : resampler.push(decoded),
        gapMs,
        backMs: missingMs < -JITTER_MS ? -missingMs : 0,
      };
    },
    close() {
      decoder.close();
      resampler.close();
    },
  };
}

function joined(a: Float32Array, b: Float32Array): Float32Array {
  const all = new Float32Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}
