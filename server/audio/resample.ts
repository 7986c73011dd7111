import libsamplerate from '@alexanderolsen/libsamplerate-js';
import { AuscultError } from '../errors.js';
import { EAR_RATE_HZ } from './windower.js';

/** Streaming conversion to 16 kHz mono. Output sample n is the sound at n / 16,000 s of the input: there is no shift. */
export interface Resampler {
  /** Samples that are ready, which is a few milliseconds less than what was pushed; may be none. The result is a copy. */
  push(samples: Float32Array): Float32Array;
  /** What the filter still holds. Then the total length is that of the input at 16 kHz, rounded. The stream is over. */
  flush(): Float32Array;
  close(): void;
}

/** Largest piece given to the library at once; its own buffer holds about a million samples. */
const PIECE_SAMPLES = 48_000;
/** Zeros that push the filter's tail out: longer than the half-length of the filter at the lowest ratio. */
const TAIL_SECONDS = 0.05;

/**
 * A resampler from `rateHz` to 16 kHz: libsamplerate's medium sinc, whose state lives as long as the stream. The same one
 * makes training data, the index and live sound. 16 kHz passes through.
 * Errors: `unsupported_audio` outside 8–48 kHz; calls after `flush` or `close` are `wrong_state`.
 */
export async function createResampler(rateHz: number): Promise<Resampler> {
  if (!Number.isInteger(rateHz) || rateHz < 8_000 || rateHz > 48_000) {
    throw new AuscultError('unsupported_audio', {
      message: `${rateHz} Hz cannot be taken: send a whole rate from 8,000 to 48,000.`,
    });
  }
  return rateHz === EAR_RATE_HZ ? createPassthrough() : createSincResampler(rateHz);
}

function createPassthrough(): Resampler {
  const guard = createGuard();
  return {
    push(samples) {
      guard.check();
      return samples.slice();
    },
    flush() {
      guard.end();
      return new Float32Array(0);
    },
    close: () => guard.close(),
  };
}

async function createSincResampler(rateHz: number): Promise<Resampler> {
  const { create, ConverterType } = libsamplerate;
  const source = await create(1, rateHz, EAR_RATE_HZ, {
    converterType: ConverterType.SRC_SINC_MEDIUM_QUALITY,
  });
  const guard = createGuard();
  let pushed = 0;
  let given = 0;

  const convert = (samples: Float32Array): Float32Array => {
    const parts: Float32Array[] = [];
    for (let at = 0; at < samples.length; at += PIECE_SAMPLES) {
      parts.push(source.full(samples.subarray(at, at + PIECE_SAMPLES)).slice());
    }
    return parts.length === 1 && parts[0] ? parts[0] : join(parts);
  };
  return {
    push(samples) {
      guard.check();
      pushed += samples.length;
      const ready = convert(samples);
      given += ready.length;
      return ready;
    },
    flush() {
      guard.end();
      const missing = Math.round((pushed * EAR_RATE_HZ) / rateHz) - given;
      const tail = convert(new Float32Array(Math.ceil(TAIL_SECONDS * rateHz)));
      return tail.slice(0, Math.max(0, missing));
    },
    close() {
      // Frees the converter; the heap of its WebAssembly instance goes with the last reference to it.
      if (guard.close()) source.destroy();
    },
  };
}

function createGuard(): { check(): void; end(): void; close(): boolean } {
  let state: 'open' | 'ended' | 'closed' = 'open';
  const check = (): void => {
    if (state === 'open') return;
    throw new AuscultError('wrong_state', { message: `This resampler is ${state}; make a new one.` });
  };
  return {
    check,
    end() {
      check();
      state = 'ended';
    },
    close() {
      const first = state !== 'closed';
      state = 'closed';
      return first;
    },
  };
}

function join(parts: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
