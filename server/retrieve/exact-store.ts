import { assertKey, assertUnitVector } from './unit-vector.js';
import type { VectorHit, VectorStore } from './vector-store.js';

/** Better first: higher score, then smaller key. */
export function compareHits(a: VectorHit, b: VectorHit): number {
  return b.score - a.score || a.key - b.key;
}

/**
 * Compares with every vector: always right, linear in size. The oracle of the approximate stores, and enough by itself for a
 * few thousand items.
 */
export function createExactStore(options: { readonly dimensions: number }): VectorStore {
  const { dimensions } = options;
  let matrix = new Float32Array(dimensions * 16);
  const keys: number[] = [];
  const rowOf = new Map<number, number>();

  function put(key: number, vector: Float32Array): void {
    const row = rowOf.get(key) ?? keys.length;
    if ((row + 1) * dimensions > matrix.length) {
      const grown = new Float32Array(matrix.length * 2);
      grown.set(matrix);
      matrix = grown;
    }
    matrix.set(vector, row * dimensions);
    keys[row] = key;
    rowOf.set(key, row);
  }

  /** The last row moves into the gap, so that rows stay dense. */
  function remove(key: number): void {
    const row = rowOf.get(key);
    if (row === undefined) return;
    const lastRow = keys.length - 1;
    const lastKey = keys[lastRow] ?? key;
    matrix.copyWithin(row * dimensions, lastRow * dimensions, (lastRow + 1) * dimensions);
    keys[row] = lastKey;
    rowOf.set(lastKey, row);
    rowOf.delete(key);
    keys.pop();
  }

  function scoreOfRow(row: number, vector: Float32Array): number {
    const offset = row * dimensions;
    let sum = 0;
    for (let index = 0; index < dimensions; index++) {
      sum += (matrix[offset + index] ?? 0) * (vector[index] ?? 0);
    }
    return sum;
  }

  return {
    get size() {
      return keys.length;
    },
    search(vector, k) {
      assertUnitVector(vector, dimensions);
      const hits = keys.map((key, row) => ({ key, score: scoreOfRow(row, vector) }));
      return hits.sort(compareHits).slice(0, Math.max(0, k));
    },
    write({ add = [], remove: removed = [] }) {
      // Everything is checked before anything changes: a bad vector leaves the store as it was.
      for (const { key, vector } of add) {
        assertKey(key);
        assertUnitVector(vector, dimensions);
      }
      for (const key of removed) remove(key);
      for (const { key, vector } of add) put(key, vector);
    },
    close() {
      keys.length = 0;
      rowOf.clear();
      matrix = new Float32Array(0);
    },
  };
}
