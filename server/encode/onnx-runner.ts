import type * as Ort from 'onnxruntime-node';

/** A tensor as plain data, so that it can cross threads. int64 data are BigInts. */
export interface PlainTensor {
  readonly type: 'float32' | 'int64' | 'int32' | 'bool' | 'uint8' | 'int8';
  readonly data: Float32Array | BigInt64Array | Int32Array | Uint8Array | Int8Array;
  readonly dims: readonly number[];
}

/** An output that stayed beside the model, to be fed to a later run without copying. */
export interface KeptTensor {
  readonly kept: number;
  readonly dims: readonly number[];
}

export type Feeds = Readonly<Record<string, PlainTensor | KeptTensor>>;
export type Outputs = Record<string, PlainTensor | KeptTensor>;

export interface RunRequest {
  readonly feeds: Feeds;
  /** Outputs wanted; all when absent. */
  readonly outputs?: readonly string[] | undefined;
  /** Outputs that stay beside the model. */
  readonly keep?: readonly string[] | undefined;
  /** Kept tensors that are forgotten after this run. */
  readonly release?: readonly number[] | undefined;
}

export interface RunnerOptions {
  readonly path: string;
  /** Threads within one operator, ≥ 1. */
  readonly threads: number;
}

export interface Runner {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  run(request: RunRequest): Promise<Outputs>;
  forget(handles: readonly number[]): void;
  close(): Promise<void>;
}

/**
 * Loads a model and runs it in the calling thread. Self-contained on purpose (no imports, no closure): the worker thread is
 * started from this function's own source text, so that both ways of running are one piece of code.
 */
export async function openRunner(ort: typeof Ort, options: RunnerOptions): Promise<Runner> {
  const session = await ort.InferenceSession.create(options.path, {
    intraOpNumThreads: options.threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    // Idle threads must sleep: spinning ones take the cores from decoding and from the other models.
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  });
  const kept = new Map<number, Ort.Tensor>();
  let nextHandle = 1;

  const toTensor = (name: string, value: PlainTensor | KeptTensor): Ort.Tensor => {
    if (!('kept' in value)) return new ort.Tensor(value.type, value.data as never, value.dims);
    const tensor = kept.get(value.kept);
    if (!tensor) throw new Error('The kept tensor for input "' + name + '" was already released.');
    return tensor;
  };
  const toOutput = (tensor: Ort.Tensor, keep: boolean): PlainTensor | KeptTensor => {
    if (keep) {
      kept.set(nextHandle, tensor);
      return { kept: nextHandle++, dims: tensor.dims };
    }
    // A copy: the runtime's own memory can be neither moved to another thread nor relied on after the next run.
    const data = (tensor.data as Float32Array).slice();
    return { type: tensor.type as PlainTensor['type'], data, dims: tensor.dims };
  };

  return {
    inputNames: session.inputNames,
    outputNames: session.outputNames,
    async run(request) {
      const feeds: Record<string, Ort.Tensor> = {};
      for (const name of Object.keys(request.feeds)) {
        const value = request.feeds[name];
        if (value) feeds[name] = toTensor(name, value);
      }
      const wanted = request.outputs ?? session.outputNames;
      const results = await session.run(feeds, [...wanted]);
      const outputs: Outputs = {};
      for (const name of wanted) {
        const tensor = results[name];
        if (tensor) outputs[name] = toOutput(tensor, request.keep?.includes(name) ?? false);
      }
      for (const handle of request.release ?? []) kept.delete(handle);
      return outputs;
    },
    forget(handles) {
      for (const handle of handles) kept.delete(handle);
    },
    async close() {
      kept.clear();
      await session.release();
    },
  };
}
