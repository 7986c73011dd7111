import type { StoreName } from '../../shared/evidence.js';
import type { SqliteDatabase } from './sqlite-database.js';

/** Little-endian float32, the form of the `vector` column. */
export function vectorToBlob(vector: Float32Array): Buffer {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
}

/** The copy is needed: a driver's buffer may start at any byte, a Float32Array only at multiples of four. */
export function blobToVector(blob: Uint8Array): Float32Array {
  return new Float32Array(blob.slice().buffer);
}

export interface KeyedVector {
  readonly key: number;
  readonly vector: Float32Array;
}

const PUBLISHED = `FROM vectors v JOIN passages p ON p.row = v.passage JOIN documents d ON d.row = p.document
  WHERE d.store = ? AND d.generation > ?`;

/** How many vectors were published after a generation; 0 counts all. */
export function countVectorsSince(database: SqliteDatabase, store: StoreName, generation: number): number {
  const row = database.prepare(`SELECT count(*) AS count ${PUBLISHED}`).get(store, generation);
  return (row as { count: number }).count;
}

/** Vectors published after a generation, by key, in batches; a change between batches is seen and does no harm. */
export function* vectorsSince(
  database: SqliteDatabase,
  store: StoreName,
  options: { readonly generation: number; readonly batchSize: number },
): Generator<KeyedVector[]> {
  const statement = database.prepare(
    `SELECT v.key, v.vector ${PUBLISHED} AND v.key > ? ORDER BY v.key LIMIT ?`,
  );
  let lastKey = -1;
  for (;;) {
    const rows = statement.all(store, options.generation, lastKey, options.batchSize) as Array<{
      key: number;
      vector: Uint8Array;
    }>;
    const last = rows.at(-1);
    if (!last) return;
    lastKey = last.key;
    yield rows.map((row) => ({ key: row.key, vector: blobToVector(row.vector) }));
  }
}

/** Keys of vectors taken away after a generation. */
export function keysRemovedSince(database: SqliteDatabase, store: StoreName, generation: number): number[] {
  return database
    .prepare('SELECT key FROM removed WHERE store = ? AND generation > ?')
    .pluck()
    .all(store, generation) as number[];
}

/** One stored vector, or null. */
export function createVectorLookup(database: SqliteDatabase): (key: number) => Float32Array | null {
  const statement = database.prepare('SELECT vector FROM vectors WHERE key = ?').pluck();
  return (key) => {
    const blob = statement.get(key) as Uint8Array | undefined;
    return blob ? blobToVector(blob) : null;
  };
}
