import type { StoreName } from '../../shared/evidence.js';
import type { NewDocument, NewPassage, PassageIndex, Publication } from './passage-index.js';
import { generationOf } from './sqlite-database.js';
import type { SqliteDatabase } from './sqlite-database.js';
import { vectorToBlob } from './sqlite-vectors.js';
import { assertUnitVector } from './unit-vector.js';

/** The writing side; the database stays the caller's to close. */
export function createSqlitePassageIndex(options: {
  readonly database: SqliteDatabase;
  readonly dimensions: number;
}): PassageIndex {
  const { database, dimensions } = options;
  const insert = createInserter(database);
  // A staged document sorts before a published one: SQLite puts NULL first.
  const hash = database
    .prepare('SELECT content_hash FROM documents WHERE store = ? AND id = ? ORDER BY generation LIMIT 1')
    .pluck();
  return {
    hashOf(store, documentId) {
      return (hash.get(store, documentId) as string | undefined) ?? null;
    },
    stage(store, documents) {
      for (const document of documents) {
        for (const { vectors } of document.passages) {
          for (const vector of vectors) assertUnitVector(vector, dimensions);
        }
      }
      database.transaction(() => {
        for (const document of documents) insert(store, document);
      })();
    },
    publish(store) {
      return database.transaction(() => publishStaged(database, store)).immediate();
    },
    remove(store, documentIds) {
      return database.transaction(() => removeDocuments(database, store, documentIds)).immediate();
    },
  };
}

function createInserter(database: SqliteDatabase): (store: StoreName, document: NewDocument) => void {
  const dropStaged = database.prepare(
    'DELETE FROM documents WHERE store = ? AND id = ? AND generation IS NULL',
  );
  const addDocument = database.prepare(
    'INSERT INTO documents (store, id, title, url, source, content_hash) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const addPassage = database.prepare(
    'INSERT INTO passages (document, id, text, span_start, span_end, clip) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const addVector = database.prepare('INSERT INTO vectors (passage, vector) VALUES (?, ?)');

  function insertPassage(documentRow: number | bigint, passage: NewPassage): void {
    const clip = passage.clip === undefined ? null : JSON.stringify(passage.clip);
    const { lastInsertRowid } = addPassage.run(
      documentRow,
      passage.id,
      passage.text,
      passage.start,
      passage.end,
      clip,
    );
    for (const vector of passage.vectors) addVector.run(lastInsertRowid, vectorToBlob(vector));
  }

  return (store, document) => {
    dropStaged.run(store, document.id);
    const { id, title, url, source, contentHash } = document;
    const { lastInsertRowid } = addDocument.run(store, id, title, url ?? null, source, contentHash);
    for (const passage of document.passages) insertPassage(lastInsertRowid, passage);
  };
}

/** Published documents that a staged one of the same id will replace. */
const REPLACED = `SELECT old.row FROM documents old JOIN documents new ON new.store = old.store AND new.id = old.id
  WHERE old.store = @store AND old.generation IS NOT NULL AND new.generation IS NULL`;

/** Remembers the keys of documents about to go, so that vector indexes can follow. */
function deletePublished(
  database: SqliteDatabase,
  rowsSql: string,
  parameters: { readonly store: StoreName; readonly generation: number; readonly ids?: string },
): number {
  database
    .prepare(
      `INSERT INTO removed (store, key, generation) SELECT @store, v.key, @generation FROM vectors v
       JOIN passages p ON p.row = v.passage WHERE p.document IN (${rowsSql})`,
    )
    .run(parameters);
  return database.prepare(`DELETE FROM documents WHERE row IN (${rowsSql})`).run(parameters).changes;
}

function publishStaged(database: SqliteDatabase, store: StoreName): Publication {
  const current = generationOf(database, store);
  const staged = database
    .prepare('SELECT count(*) FROM documents WHERE store = ? AND generation IS NULL')
    .pluck()
    .get(store) as number;
  if (staged === 0) return { generation: current, documents: 0, replaced: 0 };
  const generation = current + 1;
  const replaced = deletePublished(database, REPLACED, { store, generation });
  database
    .prepare('UPDATE documents SET generation = ? WHERE store = ? AND generation IS NULL')
    .run(generation, store);
  database.prepare('UPDATE stores SET generation = ? WHERE name = ?').run(generation, store);
  return { generation, documents: staged, replaced };
}

function removeDocuments(database: SqliteDatabase, store: StoreName, documentIds: readonly string[]): number {
  const generation = generationOf(database, store) + 1;
  const named = `SELECT row FROM documents WHERE store = @store AND id IN (SELECT value FROM json_each(@ids))`;
  const ids = JSON.stringify(documentIds);
  const known = database
    .prepare(`SELECT count(DISTINCT id) FROM documents WHERE row IN (${named})`)
    .pluck()
    .get({ store, ids }) as number;
  database
    .prepare(`DELETE FROM documents WHERE row IN (${named} AND generation IS NULL)`)
    .run({ store, ids });
  const published = deletePublished(database, `${named} AND generation IS NOT NULL`, {
    store,
    generation,
    ids,
  });
  if (published > 0) {
    database.prepare('UPDATE stores SET generation = ? WHERE name = ?').run(generation, store);
  }
  return known;
}
