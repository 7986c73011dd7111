import { AuscultError } from '../errors.js';
import type { VoiceDetector } from './voice-detector.js';

/** What is needed of a loaded model; encode/onnx-session.ts makes one. */
export interface SileroModel {
  run(feeds: SileroFeeds, options: { readonly stream: string }): Promise<Record<string, unknown>>;
}

interface Tensor<T extends string, D> {
  readonly type: T;
  readonly data: D;
  readonly dims: readonly number[];
}
type SileroFeeds = {
  readonly input: Tensor<'float32', Float32Array>;
  readonly state: Tensor<'float32', Float32Array>;
  readonly sr: Tensor<'int64', BigInt64Array>;
};

/** Samples that the model wants from before each window (64 at 16 kHz). */
const CONTEXT_SAMPLES = 64;
const WINDOW_SAMPLES = 512;
const STATE_DIMS = [2, 1, 128] as const;
const STATE_SIZE = 256;

export interface SileroOptions {
  /** The loaded model, shared by all detectors; its owner closes it. */
  readonly model: SileroModel;
  /**
   * Whether the 64 samples before a window are given with it; default true. Measured on 60 recordings of people and 22 noises:
   * at 0.5 it hears 96.9 % of loud speech windows with them and 94.6 % without, and takes 13.4 and 15.1 % of noise for speech
   * (nearly all of it two recordings of debates).
   */
  readonly context?: boolean;
}

let streams = 0;

/**
 * Silero VAD v5 on 32 ms windows. The model is shared; the state of the recurrent network and the last 64 samples belong to
 * one detector. A window whose samples are not all finite counts as unknown sound and is given to the model as silence.
 */
export function createSileroDetector({ model, context = true }: SileroOptions): VoiceDetector {
  const stream = `vad-${streams++}`;
  const lead = context ? CONTEXT_SAMPLES : 0;
  const input = new Float32Array(lead + WINDOW_SAMPLES);
  const sr = { type: 'int64', data: BigInt64Array.of(16_000n), dims: [] } as const;
  let state: Float32Array = new Float32Array(STATE_SIZE);
  let closed = false;
  /** Windows are answered in order, because each needs the state that the one before it left. */
  let last: Promise<unknown> = Promise.resolve();
  let epoch = 0;

  const detectNow = async (window: Float32Array, begunIn: number): Promise<number> => {
    if (closed) throw closedError();
    input.copyWithin(0, WINDOW_SAMPLES);
    input.set(window, lead);
    const outputs = await model.run(
      {
        input: { type: 'float32', data: input, dims: [1, input.length] },
        state: { type: 'float32', data: state, dims: STATE_DIMS },
        sr,
      },
      { stream },
    );
    // A reset while the model ran has begun a new stream; its state must not be overwritten by the old one.
    if (begunIn === epoch) state = floats(outputs, 'stateN', STATE_SIZE);
    return floats(outputs, 'output', 1)[0] ?? Number.NaN;
  };

  return {
    windowSamples: WINDOW_SAMPLES,
    detect(window) {
      if (closed) return Promise.reject(closedError());
      if (window.length !== WINDOW_SAMPLES) {
        return Promise.reject(
          new AuscultError('unsupported_audio', {
            message: `A detector window has ${WINDOW_SAMPLES} samples at 16 kHz, not ${window.length}.`,
          }),
        );
      }
      const begunIn = epoch;
      const own = finite(window);
      const answer = last.then(() => detectNow(own, begunIn));
      last = answer.catch(() => undefined);
      return answer;
    },
    reset() {
      epoch += 1;
      state = new Float32Array(STATE_SIZE);
      input.fill(0);
    },
    close() {
      closed = true;
    },
  };
}

/** A copy in which nothing can poison the recurrent state. */
function finite(window: Float32Array): Float32Array {
  return window.map((x) => (Number.isFinite(x) ? x : 0));
}

function floats(outputs: Record<string, unknown>, name: string, size: number): Float32Array {
  const { data } = (outputs[name] ?? {}) as { data?: unknown };
  if (data instanceof Float32Array && data.length === size) return data;
  throw new AuscultError('model_corrupt', {
    message: `The voice detector gave no "${name}" of ${size} numbers; restore silero_vad.onnx from a fresh checkout.`,
  });
}

function closedError(): AuscultError {
  return new AuscultError('wrong_state', { message: 'This voice detector is closed.' });
}
