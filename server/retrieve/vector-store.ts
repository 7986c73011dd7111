export interface VectorHit {
  /** Key given when the vector was added; ≥ 0. */
  readonly key: number;
  /** Cosine similarity, −1 … 1. */
  readonly score: number;
}

/**
 * PORT. Nearest neighbours by cosine similarity.
 * Contract: vectors are unit length and of the store's dimension, else `index_corrupt`; `search` returns at most `k` hits,
 * best first, ties by key, never padding; adding a key that exists replaces it; removing an unknown key does nothing.
 * What the store gives to `search` right after `write` is already the new state.
 */
export interface VectorStore {
  readonly size: number;
  search(vector: Float32Array, k: number): VectorHit[];
  write(change: {
    readonly add?: ReadonlyArray<{ key: number; vector: Float32Array }>;
    readonly remove?: readonly number[];
  }): void;
  close(): void;
}
