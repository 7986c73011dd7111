import usearch from 'usearch';
import { AuscultError } from '../errors.js';
import { compareHits } from './exact-store.js';
import { assertKey, assertUnitVector } from './unit-vector.js';
import { readIndexHeader, writeIndexFile } from './usearch-file.js';
import type { VectorHit, VectorStore } from './vector-store.js';

export interface UsearchOptions {
  readonly dimensions: number;
  /** Encoder whose space the vectors live in; written to the file and compared on load. */
  readonly modelId: string;
  /**
   * Component type in memory and on disk. f16 halves both and costs cosines of about 1e-3, far below what separates neighbours;
   * f32 keeps them to 1e-7. Default f16.
   */
  readonly scalar?: 'f16' | 'f32';
  /** Links a node of the graph keeps (M of HNSW), 4 … 64: more is better recall, more memory, slower building. Default 16. */
  readonly connectivity?: number;
  /** Candidates looked at while adding, 16 … 1000: the quality of the graph, paid once. Default 128. */
  readonly expansionAdd?: number;
  /** Candidates looked at while searching, ≥ k to be of use, 16 … 1000: recall against time. Default 128. */
  readonly expansionSearch?: number;
  /**
   * Threads for adding, 0 for all cores. With 1 the same vectors in the same order give the same graph, hence the same hits in
   * every run; with more they differ in the last percent. Default 1.
   */
  readonly threads?: number;
}

export interface UsearchStore extends VectorStore {
  /** Generation of the data in it: what the file said, or what the last `save` was told. */
  readonly generation: number;
  /** Writes the index file atomically, described by its header. */
  save(path: string, generation: number): Promise<void>;
}

type NativeIndex = InstanceType<typeof usearch.Index>;

const DEFAULTS = {
  scalar: 'f16',
  connectivity: 16,
  expansionAdd: 128,
  expansionSearch: 128,
  threads: 1,
} as const;

function createNative(options: Required<UsearchOptions>): NativeIndex {
  return new usearch.Index({
    dimensions: options.dimensions,
    // Inner product: vectors are unit length, so the division by lengths that `cos` repeats is saved.
    metric: usearch.MetricKind.IP,
    quantization: options.scalar === 'f16' ? usearch.ScalarKind.F16 : usearch.ScalarKind.F32,
    connectivity: options.connectivity,
    expansion_add: options.expansionAdd,
    expansion_search: options.expansionSearch,
    multi: false,
  });
}

/** An empty approximate index (HNSW, Malkov & Yashunin 2016) in memory. */
export async function createUsearchStore(options: UsearchOptions): Promise<UsearchStore> {
  const settings = { ...DEFAULTS, ...options };
  return wrap(createNative(settings), settings, 0);
}

/** An index from its file; throws `index_missing` or `index_corrupt`, see `readIndexHeader`. */
export async function loadUsearchStore(path: string, options: UsearchOptions): Promise<UsearchStore> {
  const header = await readIndexHeader(path, options);
  const settings = {
    ...DEFAULTS,
    ...options,
    scalar: header.scalar,
    connectivity: header.connectivity,
  };
  const native = createNative(settings);
  loadNative(native, path);
  if (native.size() !== header.count) {
    throw new AuscultError('index_corrupt', {
      message: `The vector index ${path} holds ${native.size()} vectors, its description says ${header.count}. Delete the file: it is rebuilt at the next start.`,
    });
  }
  return wrap(native, settings, header.generation);
}

function loadNative(native: NativeIndex, path: string): void {
  try {
    native.load(path);
  } catch (cause) {
    throw new AuscultError('index_corrupt', {
      message: `The vector library cannot read ${path}. Delete the file: it is rebuilt at the next start.`,
      cause,
    });
  }
}

function wrap(
  native: NativeIndex,
  settings: Required<UsearchOptions>,
  generationAtStart: number,
): UsearchStore {
  const { dimensions, threads } = settings;
  let generation = generationAtStart;
  return {
    get size() {
      return native.size();
    },
    get generation() {
      return generation;
    },
    search(vector, k) {
      assertUnitVector(vector, dimensions);
      return searchNative(native, vector, k);
    },
    write({ add = [], remove = [] }) {
      const last = new Map<number, Float32Array>();
      for (const { key, vector } of add) {
        assertKey(key);
        assertUnitVector(vector, dimensions);
        last.set(key, vector);
      }
      // The library refuses to add a key it holds, so a replaced one is removed first.
      removeKnown(native, [...remove, ...last.keys()]);
      addAll(native, last, { dimensions, threads });
    },
    async save(path, savedGeneration) {
      const { scalar, connectivity, modelId } = settings;
      await writeIndexFile(
        path,
        {
          dimensions,
          metric: 'ip',
          scalar,
          connectivity,
          modelId,
          generation: savedGeneration,
          count: native.size(),
        },
        (temporaryPath) => native.save(temporaryPath),
      );
      generation = savedGeneration;
    },
    close() {
      // The native memory goes with the wrapper object; the library has no call to free it earlier.
    },
  };
}

/** The library pads results to k in its batch form and may give fewer than k: only real hits come out. */
function searchNative(native: NativeIndex, vector: Float32Array, k: number): VectorHit[] {
  const wanted = Math.min(Math.trunc(k), native.size());
  if (wanted <= 0) return [];
  const { keys, distances } = native.search(vector, wanted, 1);
  const hits: VectorHit[] = [];
  for (let index = 0; index < keys.length; index++) {
    const distance = distances[index] ?? Number.NaN;
    if (!Number.isFinite(distance)) continue;
    hits.push({ key: Number(keys[index]), score: Math.max(-1, Math.min(1, 1 - distance)) });
  }
  return hits.sort(compareHits);
}

function removeKnown(native: NativeIndex, keys: readonly number[]): void {
  for (const key of keys) {
    if (!Number.isSafeInteger(key) || key < 0) continue;
    const name = BigInt(key);
    if (native.contains(name) === true) native.remove(name);
  }
}

function addAll(
  native: NativeIndex,
  vectors: ReadonlyMap<number, Float32Array>,
  shape: { readonly dimensions: number; readonly threads: number },
): void {
  if (vectors.size === 0) return;
  const matrix = new Float32Array(vectors.size * shape.dimensions);
  const keys = new BigUint64Array(vectors.size);
  let row = 0;
  for (const [key, vector] of vectors) {
    keys[row] = BigInt(key);
    matrix.set(vector, row * shape.dimensions);
    row++;
  }
  native.add(keys, matrix, shape.threads);
}
