import { readFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AuscultError } from '../errors.js';
import { createFairQueue } from './fair-queue.js';
import { createLogMel, MEL_BANDS, MEL_HOP_SAMPLES, type LogMel } from './log-mel.js';
import {
  createOnnxSession,
  floatOutput,
  type OnnxSession,
  type Outputs,
  type PlainTensor,
} from './onnx-session.js';
import { createOnnxTextEncoder } from './onnx-text-encoder.js';
import type { EncodedWindow, SpeechEncoder } from './speech-encoder.js';
import type { TextEncoder } from './text-encoder.js';
import { searchUnits, type UnitCandidates } from './unit-beam.js';
import { createUnitSpelling, type UnitSpelling } from './unit-spelling.js';
import { readUnitTrigram, type UnitTrigram } from './unit-trigram.js';
import { unitVector } from './unit-vector.js';
import type { Weights } from './weights.js';

export interface OnnxSpeechEncoderOptions {
  readonly weights: Weights;
  /** Threads of the model, ≥ 1; default 1. */
  readonly threads?: number;
  /** Windows of the same bucket that may share a run, ≥ 1; default 1, which turns batching off. */
  readonly maxBatch?: number;
  /** Where the model runs; default `worker`. */
  readonly thread?: 'main' | 'worker';
  /** Windows that may wait; default 4,096. */
  readonly capacity?: number;
}

const MODEL = 'ear.onnx';
const UNITS = 'ear-units.json';
/** A copy of the text encoder that has learned to read the ear's own misspellings. */
const READER = 'ear-text-encoder.onnx';
/** Which units follow which; with it the spelling is searched for, without it the best path is taken. */
const TRIGRAM = 'ear-units-lm.bin';
/** What the direct head's vector counts beside the spelling's, chosen on development voices (docs/speech-encoder.md). */
export const DIRECT_HEAD_WEIGHT = 0.4;
const RATE_HZ = 16_000;
const DIMENSIONS = 384;
const FEATURE_DIMENSIONS = 512;
/** One encoder frame is 20 ms. */
const FRAME_SAMPLES = 320;
/** A window is padded with zeros up to one of these lengths, seconds: short questions cost little, few shapes are compiled. */
const BUCKET_SECONDS = [2, 3, 4, 6, 8] as const;
const MAX_SAMPLES = 8 * RATE_HZ;

/** The bucket that holds a window of so many samples, in samples. */
export function bucketOf(samples: number): number {
  const seconds = BUCKET_SECONDS.find((candidate) => samples <= candidate * RATE_HZ);
  if (samples > 0 && seconds !== undefined) return seconds * RATE_HZ;
  throw new AuscultError('unsupported_audio', {
    message: `A window of ${samples} samples cannot be encoded: give 1 … ${MAX_SAMPLES} samples at 16 kHz.`,
  });
}

/** Encoder frames that hold sound, of a window of so many samples before padding. */
export function validFrames(samples: number): number {
  return Math.ceil(samples / FRAME_SAMPLES);
}

/**
 * The ear: log-mel → Whisper's encoder → head, in one model. Windows that wait together and fall into the same bucket run as
 * one batch, whichever session they come from. Errors of the factory: `model_missing`, `model_corrupt`.
 */
export async function createOnnxSpeechEncoder(options: OnnxSpeechEncoderOptions): Promise<SpeechEncoder> {
  const { weights, threads = 1, maxBatch = 1, thread = 'worker' } = options;
  const session = await createOnnxSession({ path: weights.pathOf(MODEL), threads, thread });
  const logMel = createLogMel();
  const reading = await openReader(weights, { threads, thread });
  const queue = createFairQueue<Float32Array, HeardWindow>({
    run: (windows) => encodeBatch(session, logMel, windows),
    concurrency: 1,
    maxBatch,
    capacity: options.capacity ?? 4_096,
  });
  let calls = 0;
  return {
    dimensions: DIMENSIONS,
    modelId: `ear:${weights.find(MODEL)?.sha256.slice(0, 12) ?? 'unknown'}`,
    async encode(windows, signal) {
      const kinds = windows.map((window) => String(bucketOf(window.length)));
      // Each call is a stream of its own: a short question does not wait for all windows of a long one.
      const stream = String(calls++);
      return Promise.all(
        windows.map(async (window, at) => {
          const heard = await queue.submit(window, { stream, kind: kinds[at] ?? '', signal });
          return readUnits(heard, { ...reading, signal });
        }),
      );
    },
    async close() {
      await queue.close();
      await Promise.all([session.close(), reading.reader.close()]);
    },
  };
}

/** A window as the graph gives it: the direct head's vector, and the units of each 40 ms step. */
export interface HeardWindow extends EncodedWindow {
  /** The best one. */
  readonly units: BigInt64Array;
  readonly candidates: UnitCandidates;
}

interface Reader {
  readonly spelling: UnitSpelling;
  readonly trigram: UnitTrigram | null;
  readonly reader: TextEncoder;
  readonly signal?: AbortSignal | undefined;
}

async function openReader(
  weights: Weights,
  options: { readonly threads: number; readonly thread: 'main' | 'worker' },
): Promise<Reader> {
  const names: unknown = JSON.parse(await readFile(weights.pathOf(UNITS), 'utf8'));
  if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) {
    throw new AuscultError('model_corrupt', {
      message: `${UNITS} is no list of units; restore it from a fresh checkout.`,
    });
  }
  const model = weights.find(READER) ? READER : 'text-encoder.onnx';
  return {
    spelling: createUnitSpelling(names),
    trigram: weights.find(TRIGRAM) ? readUnitTrigram(await readFile(weights.pathOf(TRIGRAM))) : null,
    reader: await createOnnxTextEncoder({ weights, model, ...options }),
  };
}

/** The spelling's vector and the direct head's, added and normalised; where nothing was spelled the head speaks alone. */
async function readUnits(
  { units, candidates, ...heard }: HeardWindow,
  { spelling, trigram, reader, signal }: Reader,
): Promise<EncodedWindow> {
  const text = trigram ? spelling.join(searchUnits(candidates, trigram)) : spelling.spell(units);
  if (text === '') return heard;
  const [read] = await reader.encode([text], 'query', signal);
  const vector = heard.vector.map((value, at) => DIRECT_HEAD_WEIGHT * value + (read?.[at] ?? 0));
  return { ...heard, vector: unitVector(vector) };
}

/** Windows of one bucket → their vectors and the features of their valid frames. */
async function encodeBatch(
  session: OnnxSession,
  logMel: LogMel,
  windows: readonly Float32Array[],
): Promise<HeardWindow[]> {
  const bucket = bucketOf(Math.max(...windows.map((window) => window.length)));
  const melFrames = bucket / MEL_HOP_SAMPLES;
  const mel = new Float32Array(windows.length * MEL_BANDS * melFrames);
  for (const [row, window] of windows.entries()) {
    // Sound from other sessions is decoded between two windows.
    if (row > 0) await nextTurn();
    logMel.write(window, bucket, { out: mel, offset: row * MEL_BANDS * melFrames });
  }
  return runEar(session, { mel, melFrames, frames: windows.map((window) => validFrames(window.length)) });
}

/** What the ear takes: log-mel [b, 80, melFrames] and the valid 20 ms frames of each row. */
export interface EarInput {
  readonly mel: Float32Array;
  readonly melFrames: number;
  readonly frames: readonly number[];
}

/**
 * Runs the model. The mask is counted in frames of the encoder's output, and its length is checked here, because a wrong one
 * makes the pooling silently wrong: `unsupported_audio` unless there is one count a row, each from 1 to half the mel frames.
 */
export async function runEar(session: OnnxSession, input: EarInput): Promise<HeardWindow[]> {
  const rows = input.mel.length / (MEL_BANDS * input.melFrames);
  const steps = input.melFrames / 2;
  checkMask(input.frames, rows, steps);
  const outputs = await session.run({
    mel: { type: 'float32', data: input.mel, dims: [rows, MEL_BANDS, input.melFrames] },
    frames: { type: 'int64', data: BigInt64Array.from(input.frames, BigInt), dims: [rows] },
  });
  const vectors = floatOutput(outputs, 'vector');
  const features = floatOutput(outputs, 'features');
  checkShape(vectors.dims, [rows, DIMENSIONS]);
  checkShape(features.dims, [rows, steps, FEATURE_DIMENSIONS]);
  return input.frames.map((frames, row) => {
    const start = row * steps * FEATURE_DIMENSIONS;
    return {
      vector: unitVector(vectors.data.subarray(row * DIMENSIONS, (row + 1) * DIMENSIONS)),
      features: features.data.slice(start, start + frames * FEATURE_DIMENSIONS),
      frames,
      ...unitsOf(outputs, row, rows),
    };
  });
}

/** The units of every step of one row. */
function unitsOf(outputs: Outputs, row: number, rows: number): Pick<HeardWindow, 'units' | 'candidates'> {
  const { units, candidates } = outputs;
  if (!isUnits(units) || !isUnits(candidates)) {
    throw new AuscultError('model_corrupt', {
      message: 'The ear gives no units; restore the weights that belong to this version.',
    });
  }
  const scores = floatOutput(outputs, 'scores').data;
  const part = <T extends BigInt64Array | Float32Array>(data: T): T =>
    data.slice((row * data.length) / rows, ((row + 1) * data.length) / rows) as T;
  const perStep = candidates.dims[2] ?? 1;
  return {
    units: part(units.data),
    candidates: { units: part(candidates.data), scores: part(scores), perStep },
  };
}

function isUnits(
  output: Outputs[string] | undefined,
): output is PlainTensor & { readonly data: BigInt64Array } {
  return output !== undefined && 'data' in output && output.data instanceof BigInt64Array;
}

function checkMask(frames: readonly number[], rows: number, steps: number): void {
  const fits = frames.every((count) => Number.isInteger(count) && count >= 1 && count <= steps);
  if (Number.isInteger(rows) && rows > 0 && frames.length === rows && fits) return;
  throw new AuscultError('unsupported_audio', {
    message:
      `The frame counts [${frames.join(', ')}] do not fit ${rows} window(s) of ${steps} encoder frames: ` +
      'give one whole count a window, in 20 ms frames of the encoder, not in samples or mel frames.',
  });
}

function checkShape(found: readonly number[], expected: readonly number[]): void {
  if (found.length === expected.length && expected.every((size, at) => found[at] === size)) return;
  throw new AuscultError('model_corrupt', {
    message: `The ear gave [${found.join(', ')}] instead of [${expected.join(', ')}]: its weights belong to another version.`,
  });
}
