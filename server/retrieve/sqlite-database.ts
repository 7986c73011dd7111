import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import type { StoreName } from '../../shared/evidence.js';
import { AuscultError } from '../errors.js';

export type SqliteDatabase = Database.Database;

/** Raised when the tables below change; another version in the file stops the start. */
export const DATABASE_FORMAT_VERSION = 1;

export const STORE_NAMES: readonly StoreName[] = ['passages', 'speech'];

export interface SqliteOptions {
  readonly path: string;
  readonly dimensions: number;
  /** Encoder that makes the vectors of each store. */
  readonly modelIds: Readonly<Record<StoreName, string>>;
  /** Refuse with `index_missing` instead of starting an empty one. Default false. */
  readonly mustExist?: boolean;
}

/**
 * A document without a generation is staged: written, but not yet visible. Keys of vectors are never used twice, so that a
 * vector index of an older generation is brought up to date by `removed` and by what is newer than it.
 */
const SCHEMA = `
CREATE TABLE IF NOT EXISTS stores (
  name TEXT PRIMARY KEY, generation INTEGER NOT NULL, dimensions INTEGER NOT NULL, model_id TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS documents (
  row INTEGER PRIMARY KEY, store TEXT NOT NULL, id TEXT NOT NULL, title TEXT NOT NULL, url TEXT, source TEXT NOT NULL,
  content_hash TEXT NOT NULL, generation INTEGER);
CREATE UNIQUE INDEX IF NOT EXISTS documents_published ON documents (store, id) WHERE generation IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS documents_staged ON documents (store, id) WHERE generation IS NULL;
CREATE TABLE IF NOT EXISTS passages (
  row INTEGER PRIMARY KEY, document INTEGER NOT NULL REFERENCES documents (row) ON DELETE CASCADE, id TEXT NOT NULL,
  text TEXT NOT NULL, span_start INTEGER NOT NULL, span_end INTEGER NOT NULL, clip TEXT);
CREATE INDEX IF NOT EXISTS passages_document ON passages (document);
CREATE INDEX IF NOT EXISTS passages_id ON passages (id);
CREATE TABLE IF NOT EXISTS vectors (
  key INTEGER PRIMARY KEY AUTOINCREMENT, passage INTEGER NOT NULL REFERENCES passages (row) ON DELETE CASCADE,
  vector BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS vectors_passage ON vectors (passage);
CREATE TABLE IF NOT EXISTS removed (store TEXT NOT NULL, key INTEGER NOT NULL, generation INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS removed_generation ON removed (store, generation);
`;

/**
 * Opens or creates the database of passages. Throws `index_missing` (see `mustExist`) and `index_corrupt` for a file that is no
 * database, is of another version, or holds another model's vectors.
 */
export function openDatabase(options: SqliteOptions): SqliteDatabase {
  const { path } = options;
  if (!existsSync(path)) {
    if (options.mustExist === true) {
      throw new AuscultError('index_missing', {
        message: `There is no index at ${path}. Run "auscult ingest PATH" first, or start the server once to index the demo corpus.`,
      });
    }
    mkdirSync(dirname(path), { recursive: true });
  }
  const database = openFile(path);
  try {
    prepare(database, options);
    return database;
  } catch (cause) {
    database.close();
    if (cause instanceof AuscultError) throw cause;
    throw damaged(path, cause);
  }
}

function openFile(path: string): SqliteDatabase {
  try {
    return new Database(path);
  } catch (cause) {
    throw damaged(path, cause);
  }
}

function damaged(path: string, cause: unknown): AuscultError {
  return new AuscultError('index_corrupt', {
    message: `${path} cannot be read as a database. Move it away and run "auscult ingest" again, or restore a copy.`,
    cause,
  });
}

function prepare(database: SqliteDatabase, options: SqliteOptions): void {
  // WAL: readers go on while an ingest writes. NORMAL: a power cut may lose the last commits, never consistency.
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = NORMAL');
  database.pragma('busy_timeout = 10000');
  database.pragma('foreign_keys = ON');
  const version = database.pragma('user_version', { simple: true });
  if (version !== 0 && version !== DATABASE_FORMAT_VERSION) {
    throw new AuscultError('index_corrupt', {
      message: `${options.path} has format version ${String(version)}, this program reads ${DATABASE_FORMAT_VERSION}. Move it away and run "auscult ingest" again.`,
    });
  }
  database.exec(SCHEMA);
  database.pragma(`user_version = ${DATABASE_FORMAT_VERSION}`);
  for (const store of STORE_NAMES) checkStore(database, store, options);
}

interface StoreRow {
  readonly generation: number;
  readonly dimensions: number;
  readonly model_id: string;
}

function checkStore(database: SqliteDatabase, store: StoreName, options: SqliteOptions): void {
  const modelId = options.modelIds[store];
  const { dimensions } = options;
  database
    .prepare('INSERT OR IGNORE INTO stores (name, generation, dimensions, model_id) VALUES (?, 0, ?, ?)')
    .run(store, dimensions, modelId);
  const row = database
    .prepare('SELECT generation, dimensions, model_id FROM stores WHERE name = ?')
    .get(store) as StoreRow;
  if (row.model_id === modelId && row.dimensions === dimensions) return;
  const used = database.prepare('SELECT 1 FROM documents WHERE store = ? LIMIT 1').get(store);
  if (used === undefined) {
    database
      .prepare('UPDATE stores SET dimensions = ?, model_id = ? WHERE name = ?')
      .run(dimensions, modelId, store);
    return;
  }
  throw new AuscultError('index_corrupt', {
    message: `${options.path}: the ${store} store was made with model ${row.model_id} (${row.dimensions} dimensions), the program runs ${modelId} (${dimensions}). Use that model, or move the file away and run "auscult ingest" again.`,
  });
}

/** How often a store has changed. */
export function generationOf(database: SqliteDatabase, store: StoreName): number {
  const row = database.prepare('SELECT generation FROM stores WHERE name = ?').get(store) as
    { generation: number } | undefined;
  return row?.generation ?? 0;
}
