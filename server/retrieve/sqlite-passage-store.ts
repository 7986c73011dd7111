import type { StoreName } from '../../shared/evidence.js';
import type { KeywordDocument } from './bm25-keyword-store.js';
import type { Passage, PassageClip, PassageStore } from './passage-store.js';
import { generationOf, STORE_NAMES } from './sqlite-database.js';
import type { SqliteDatabase } from './sqlite-database.js';

interface PassageRow {
  readonly key: number;
  readonly store: StoreName;
  readonly id: string;
  readonly document_id: string;
  readonly title: string;
  readonly text: string;
  readonly url: string | null;
  readonly span_start: number;
  readonly span_end: number;
  readonly source: string;
  readonly clip: string | null;
}

const COLUMNS = `d.store, p.id, d.id AS document_id, d.title, p.text, d.url, p.span_start, p.span_end, d.source, p.clip`;
const PUBLISHED = `FROM vectors v JOIN passages p ON p.row = v.passage JOIN documents d ON d.row = p.document
  WHERE d.generation IS NOT NULL`;

function toPassage(row: PassageRow): Passage {
  return {
    id: row.id,
    key: row.key,
    store: row.store,
    documentId: row.document_id,
    title: row.title,
    text: row.text,
    ...(row.url === null ? {} : { url: row.url }),
    start: row.span_start,
    end: row.span_end,
    source: row.source,
    ...(row.clip === null ? {} : { clip: JSON.parse(row.clip) as PassageClip }),
  };
}

/** Published passages of both stores; a change by another process is seen at once. The database stays the caller's to close. */
export async function createSqlitePassageStore(options: {
  readonly database: SqliteDatabase;
}): Promise<PassageStore> {
  const { database } = options;
  const byKey = database.prepare(`SELECT v.key, ${COLUMNS} ${PUBLISHED} AND d.store = ? AND v.key = ?`);
  // A passage with several windows has several keys; the first stands for it.
  const byId = database.prepare(
    `SELECT v.key, ${COLUMNS} ${PUBLISHED} AND p.id = ? ORDER BY d.store, v.key LIMIT 1`,
  );
  let counted = { generations: '', size: 0 };
  return {
    get size() {
      const generations = STORE_NAMES.map((store) => generationOf(database, store)).join();
      if (generations !== counted.generations) {
        const size = STORE_NAMES.reduce((sum, store) => sum + countPassages(database, store).passages, 0);
        counted = { generations, size };
      }
      return counted.size;
    },
    byKeys(store, keys) {
      return keys.flatMap((key) => {
        const row = byKey.get(store, key) as PassageRow | undefined;
        return row ? [toPassage(row)] : [];
      });
    },
    byId(id) {
      const row = byId.get(id) as PassageRow | undefined;
      return row ? toPassage(row) : null;
    },
    close() {
      // Statements go with the database.
    },
  };
}

/** Published documents and passages of a store. */
export function countPassages(
  database: SqliteDatabase,
  store: StoreName,
): { readonly documents: number; readonly passages: number } {
  return database
    .prepare(
      `SELECT count(DISTINCT d.row) AS documents, count(p.row) AS passages FROM documents d
       LEFT JOIN passages p ON p.document = d.row WHERE d.store = ? AND d.generation IS NOT NULL`,
    )
    .get(store) as { documents: number; passages: number };
}

/** Title and text of every published passage of a store, under its first key, for the keyword index. */
export function* keywordDocuments(database: SqliteDatabase, store: StoreName): Generator<KeywordDocument> {
  const rows = database
    .prepare(`SELECT min(v.key) AS key, d.title, p.text ${PUBLISHED} AND d.store = ? GROUP BY p.row`)
    .iterate(store) as IterableIterator<{ key: number; title: string; text: string }>;
  for (const { key, title, text } of rows) yield { key, text: `${title}\n${text}` };
}

/** Texts of all published passages, of both stores. */
export function* passageTexts(database: SqliteDatabase): Generator<string> {
  for (const store of STORE_NAMES) for (const { text } of keywordDocuments(database, store)) yield text;
}
