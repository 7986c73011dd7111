import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import type * as WorkerThreads from 'node:worker_threads';
import { Worker } from 'node:worker_threads';
import * as ort from 'onnxruntime-node';
import { AuscultError } from '../errors.js';
import { createFairQueue } from './fair-queue.js';
import type { KeptTensor, Outputs, PlainTensor, Runner, RunnerOptions, RunRequest } from './onnx-runner.js';
import { openRunner } from './onnx-runner.js';
import { checkFile } from './weights.js';

export type { Feeds, KeptTensor, Outputs, PlainTensor } from './onnx-runner.js';

export interface OnnxSessionOptions {
  readonly path: string;
  /** Hash the file must have; unchecked when absent (because `Weights.verify` has already read it). */
  readonly sha256?: string;
  /** Threads within one operator, ≥ 1; default 1. The sum over all models should not exceed the cores. */
  readonly threads?: number;
  /**
   * Where runs happen; default `main`. The runtime computes inside the call, so a run on the main thread stops the event loop
   * for its whole length (measured: 40–180 ms for the ear): everything above a millisecond belongs on a `worker`.
   */
  readonly thread?: 'main' | 'worker';
  /** Runs that may wait; default 1,024. One more is refused with `limit_exceeded`. */
  readonly capacity?: number;
}

export interface RunOptions extends Omit<RunRequest, 'feeds'> {
  /** Whose work this is; streams take turns. */
  readonly stream?: string;
  readonly signal?: AbortSignal | undefined;
}

/** A loaded model. One run at a time; streams take turns; what waits can be aborted, what runs is computed and dropped. */
export interface OnnxSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  run(feeds: RunRequest['feeds'], options?: RunOptions): Promise<Outputs>;
  /** Forgets kept outputs that no run released. */
  forget(handles: readonly number[]): void;
  close(): Promise<void>;
}

/**
 * Loads a model: the one place where ONNX sessions are made.
 * Errors: `model_missing`, `model_corrupt` (wrong hash, or a file that the runtime cannot load).
 */
export async function createOnnxSession(options: OnnxSessionOptions): Promise<OnnxSession> {
  if (options.sha256 !== undefined) await checkFile(options.path, options.sha256);
  if (!existsSync(options.path)) {
    throw new AuscultError('model_missing', {
      message: `The model file ${options.path} is missing: restore it from a fresh checkout or build it with models/build.`,
    });
  }
  const runner = await open(options);
  const queue = createFairQueue<RunRequest, Outputs>({
    run: async (requests) => Promise.all(requests.map((request) => runner.run(request))),
    concurrency: 1,
    maxBatch: 1,
    capacity: options.capacity ?? 1_024,
  });
  return {
    inputNames: runner.inputNames,
    outputNames: runner.outputNames,
    run: (feeds, { stream = '', signal, ...rest } = {}) =>
      queue.submit({ feeds, ...rest }, { stream, signal }),
    forget: (handles) => runner.forget(handles),
    async close() {
      await queue.close();
      await runner.close();
    },
  };
}

/** The output of that name as plain float32 data; `model_corrupt` when the model gives none. */
export function floatOutput(outputs: Outputs, name: string): { data: Float32Array; dims: readonly number[] } {
  const tensor = outputs[name];
  if (tensor && !('kept' in tensor) && tensor.data instanceof Float32Array) {
    return { data: tensor.data, dims: tensor.dims };
  }
  throw new AuscultError('model_corrupt', {
    message: `The model gives no float output "${name}"; restore the weights that belong to this version.`,
  });
}

/** The output of that name that stayed beside the model. */
export function keptOutput(outputs: Outputs, name: string): KeptTensor {
  const tensor = outputs[name];
  if (tensor && 'kept' in tensor) return tensor;
  throw new AuscultError('model_corrupt', {
    message: `The model kept no output "${name}"; restore the weights that belong to this version.`,
  });
}

async function open(options: OnnxSessionOptions): Promise<Runner> {
  const settings: RunnerOptions = { path: options.path, threads: options.threads ?? 1 };
  try {
    return await (options.thread === 'worker' ? openWorker(settings) : openRunner(ort, settings));
  } catch (cause) {
    throw new AuscultError('model_corrupt', {
      message: `${options.path} cannot be loaded as a model: restore it from a fresh checkout or build it again.`,
      cause,
    });
  }
}

type Reply =
  | { readonly ready: true; readonly inputNames: string[]; readonly outputNames: string[] }
  | { readonly id: number; readonly outputs: Outputs }
  | { readonly id: number | null; readonly failure: string };

/** The runner in a thread of its own. The thread does not keep the process alive. */
async function openWorker(options: RunnerOptions): Promise<Runner> {
  const source = `(${workerMain.toString()})(require, ${openRunner.toString()})`;
  const worker = new Worker(source, {
    eval: true,
    name: 'onnx',
    workerData: { ...options, runtime: createRequire(import.meta.url).resolve('onnxruntime-node') },
  });
  const pending = new Map<number, { resolve: (outputs: Outputs) => void; reject: (error: Error) => void }>();
  let nextId = 1;
  let down: AuscultError | null = null;
  let closing: Promise<void> | null = null;

  const ready = await new Promise<Extract<Reply, { ready: true }>>((resolve, reject) => {
    const stop = (cause: unknown): void => {
      down ??= new AuscultError('internal', { message: 'The thread of a model has ended.', cause });
      for (const waiter of pending.values()) waiter.reject(down);
      pending.clear();
      reject(cause instanceof Error ? cause : new Error(String(cause)));
    };
    worker.on('error', stop);
    worker.on('exit', (code) => stop(new Error(`exit ${code}`)));
    worker.on('message', (reply: Reply) => {
      if ('ready' in reply) return resolve(reply);
      const waiter = reply.id === null ? undefined : pending.get(reply.id);
      if (reply.id !== null) pending.delete(reply.id);
      if ('outputs' in reply) waiter?.resolve(reply.outputs);
      else if (waiter) waiter.reject(new AuscultError('internal', { message: reply.failure }));
      else reject(new Error(reply.failure));
    });
  });
  worker.unref();

  return {
    inputNames: ready.inputNames,
    outputNames: ready.outputNames,
    run: (request) =>
      new Promise((resolve, reject) => {
        if (down) return reject(down);
        const id = nextId++;
        pending.set(id, { resolve, reject });
        worker.ref();
        worker.postMessage({ id, request });
      }).then(
        (outputs) => {
          if (pending.size === 0) worker.unref();
          return outputs as Outputs;
        },
        (error: Error) => {
          if (pending.size === 0) worker.unref();
          throw error;
        },
      ),
    forget: (handles) => worker.postMessage({ forget: handles }),
    close() {
      down ??= new AuscultError('wrong_state', { message: 'The model is closed.' });
      return (closing ??= endThread(worker));
    },
  };
}

/** The thread frees its model and ends by itself: killed inside the runtime it would take the process with it. */
function endThread(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    worker.once('exit', () => resolve());
    worker.ref();
    worker.postMessage({ close: true });
  });
}

/** What the thread runs; its source text is sent, hence nothing from outside but its two arguments. */
function workerMain(require: NodeJS.Require, openIn: typeof openRunner): void {
  const threads = require('node:worker_threads') as typeof WorkerThreads;
  const data = threads.workerData as RunnerOptions & { runtime: string };
  const port = threads.parentPort;
  if (!port) return;
  const words = (error: unknown): string => (error instanceof Error ? error.message : String(error));
  type Order = { id: number; request: RunRequest } | { forget: number[] } | { close: true };
  openIn(require(data.runtime) as typeof ort, data).then(
    (runner) => {
      port.on('message', (order: Order) => {
        if ('forget' in order) return runner.forget(order.forget);
        if ('close' in order) return void runner.close().finally(() => port.close());
        runner.run(order.request).then(
          (outputs) => {
            const plain = Object.values(outputs).filter((value): value is PlainTensor => 'data' in value);
            port.postMessage(
              { id: order.id, outputs },
              plain.map((tensor) => tensor.data.buffer as ArrayBuffer),
            );
          },
          (error: unknown) => port.postMessage({ id: order.id, failure: words(error) }),
        );
      });
      port.postMessage({ ready: true, inputNames: runner.inputNames, outputNames: runner.outputNames });
    },
    (error: unknown) => port.postMessage({ id: null, failure: words(error) }),
  );
}
