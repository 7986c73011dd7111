import { readFile } from 'node:fs/promises';
import * as tokenizers from '@huggingface/tokenizers';
import { AuscultError } from '../errors.js';
import { createFairQueue } from './fair-queue.js';
import { createOnnxSession, floatOutput, type OnnxSession, type PlainTensor } from './onnx-session.js';
import type { TextEncoder } from './text-encoder.js';
import { unitVector } from './unit-vector.js';
import type { Weights } from './weights.js';

export interface OnnxTextEncoderOptions {
  readonly weights: Weights;
  /** File of the model; default `text-encoder.onnx`. Others must have its inputs and outputs. */
  readonly model?: string;
  /** Threads of the model, ≥ 1; default 1. */
  readonly threads?: number;
  /** Where the model runs; default `worker`. */
  readonly thread?: 'main' | 'worker';
  /** Texts that may wait; default 100,000. */
  readonly capacity?: number;
}

/** What is used of the package, whose own declarations do not resolve under Node's module rules. */
interface WordPieces {
  encode(text: string): { readonly ids: number[] };
}
const { Tokenizer } = tokenizers as unknown as {
  readonly Tokenizer: new (tokenizer: object, config: object) => WordPieces;
};

const MODEL = 'text-encoder.onnx';
const TOKENIZER = 'text-tokenizer.json';
const DIMENSIONS = 384;
/** Tokens the model was trained to read, its two marks included; longer texts are cut. */
const MAX_TOKENS = 256;
/**
 * Texts in one run. Larger batches are slower on few cores (measured on abstracts: 4 equals single, 32 takes one and a half
 * times as long), because every text is padded to the longest and the working set leaves the cache.
 */
const MAX_BATCH = 4;
/** Texts may share a run when their lengths fall into the same step of this many tokens. */
const LENGTH_STEP = 8;

/**
 * all-MiniLM-L6-v2 (Reimers & Gurevych 2019; 22 M parameters, weights in int8): mean over the tokens, then unit length. Queries
 * and passages are encoded alike. Errors of the factory: `model_missing`, `model_corrupt`.
 */
export async function createOnnxTextEncoder(options: OnnxTextEncoderOptions): Promise<TextEncoder> {
  const { weights, model = MODEL, threads = 1, thread = 'worker' } = options;
  const tokenizer = await openTokenizer(weights.pathOf(TOKENIZER));
  const session = await createOnnxSession({ path: weights.pathOf(model), threads, thread });
  const queue = createFairQueue<readonly number[], Float32Array>({
    run: (batch) => encodeBatch(session, batch),
    concurrency: 1,
    maxBatch: MAX_BATCH,
    capacity: options.capacity ?? 100_000,
  });
  let calls = 0;
  return {
    dimensions: DIMENSIONS,
    modelId: `all-MiniLM-L6-v2:${weights.find(model)?.sha256.slice(0, 12) ?? 'unknown'}`,
    encode(texts, _role, signal) {
      // Each call is a stream of its own: a question does not wait for the whole of an ingest.
      const stream = String(calls++);
      return Promise.all(
        texts.map((text) => {
          const ids = tokenizer(text);
          const kind = String(Math.ceil(ids.length / LENGTH_STEP));
          return queue.submit(ids, { stream, kind, signal });
        }),
      );
    },
    async close() {
      await queue.close();
      await session.close();
    },
  };
}

/** Text → token ids with both marks, at most MAX_TOKENS. */
async function openTokenizer(path: string): Promise<(text: string) => number[]> {
  try {
    const tokenizer = new Tokenizer(JSON.parse(await readFile(path, 'utf8')) as object, {});
    return (text) => {
      const { ids } = tokenizer.encode(text);
      const end = ids.at(-1);
      return ids.length <= MAX_TOKENS || end === undefined ? ids : [...ids.slice(0, MAX_TOKENS - 1), end];
    };
  } catch (cause) {
    throw new AuscultError('model_corrupt', {
      message: `${path} is no readable tokenizer: restore it from a fresh checkout.`,
      cause,
    });
  }
}

async function encodeBatch(
  session: OnnxSession,
  batch: ReadonlyArray<readonly number[]>,
): Promise<Float32Array[]> {
  const length = Math.max(...batch.map((ids) => ids.length));
  const filled = (valueOf: (id: number) => bigint): PlainTensor => {
    const data = new BigInt64Array(batch.length * length);
    batch.forEach((ids, row) => ids.forEach((id, at) => (data[row * length + at] = valueOf(id))));
    return { type: 'int64', data, dims: [batch.length, length] };
  };
  const outputs = await session.run(
    {
      input_ids: filled((id) => BigInt(id)),
      attention_mask: filled(() => 1n),
      token_type_ids: filled(() => 0n),
    },
    { outputs: ['last_hidden_state'] },
  );
  const { data } = floatOutput(outputs, 'last_hidden_state');
  return batch.map((ids, row) => {
    const start = row * length * DIMENSIONS;
    return unitVector(meanOfRows(data.subarray(start, start + ids.length * DIMENSIONS)));
  });
}

function meanOfRows(rows: Float32Array): Float64Array {
  const mean = new Float64Array(DIMENSIONS);
  for (let at = 0; at < rows.length; at += DIMENSIONS) {
    for (let d = 0; d < DIMENSIONS; d += 1) mean[d] = (mean[d] ?? 0) + (rows[at + d] ?? 0);
  }
  return mean;
}
