import type { TextEncoder } from '../encode/text-encoder.js';

/** Vectors of the few names that were compared lately. Nothing is embedded before it is asked for. */
export interface SemanticTable {
  /** Embeds the names that are not there yet, in one batch. Rejects with `aborted` when the signal is. */
  prepare(names: readonly string[], signal?: AbortSignal): Promise<void>;
  /** Cosine similarity of two prepared names, −1 … 1; null when one was not prepared. */
  similarity(a: string, b: string): number | null;
}

export interface SemanticTableOptions {
  /** Names kept; the one unused for longest goes first. 384 floats each: 4,096 names are 6 MB. */
  readonly capacity?: number;
}

export function createSemanticTable(encoder: TextEncoder, options: SemanticTableOptions = {}): SemanticTable {
  const capacity = options.capacity ?? 4_096;
  const vectors = new Map<string, Float32Array>();

  function touch(name: string): Float32Array | undefined {
    const vector = vectors.get(name);
    if (vector) {
      vectors.delete(name);
      vectors.set(name, vector);
    }
    return vector;
  }

  return {
    async prepare(names, signal) {
      const missing = [...new Set(names)].filter((name) => !touch(name));
      if (missing.length === 0) return;
      const encoded = await encoder.encode(missing, 'query', signal);
      missing.forEach((name, i) => {
        const vector = encoded[i];
        if (vector) vectors.set(name, vector);
      });
      // Never below what one call has just prepared, or its own names would be missing.
      for (const name of vectors.keys()) {
        if (vectors.size <= Math.max(capacity, names.length)) break;
        vectors.delete(name);
      }
    },
    similarity(a, b) {
      const [first, second] = [vectors.get(a), vectors.get(b)];
      if (!first || !second) return null;
      let sum = 0;
      for (let i = 0; i < first.length; i += 1) sum += (first[i] as number) * (second[i] as number);
      return sum;
    },
  };
}
