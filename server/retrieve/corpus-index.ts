import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { StoreName } from '../../shared/evidence.js';
import { AuscultError } from '../errors.js';
import { createBm25KeywordStore } from './bm25-keyword-store.js';
import type { KeywordStore } from './keyword-store.js';
import type { PassageIndex } from './passage-index.js';
import type { PassageStore } from './passage-store.js';
import { generationOf, openDatabase, STORE_NAMES } from './sqlite-database.js';
import type { SqliteDatabase } from './sqlite-database.js';
import { createSqlitePassageIndex } from './sqlite-passage-index.js';
import {
  countPassages,
  createSqlitePassageStore,
  keywordDocuments,
  passageTexts,
} from './sqlite-passage-store.js';
import { countVectorsSince, createVectorLookup, keysRemovedSince, vectorsSince } from './sqlite-vectors.js';
import { createUsearchStore, loadUsearchStore } from './usearch-store.js';
import type { UsearchOptions, UsearchStore } from './usearch-store.js';
import type { VectorStore } from './vector-store.js';

/** How far a long piece of work is. `stage` is a short word for people: `index passages`, `encode`. */
export interface IndexProgress {
  readonly stage: string;
  readonly done: number;
  readonly total: number;
}

export interface CorpusIndexOptions {
  /** Folder of index.sqlite (the truth) and of passages.usearch and speech.usearch (derived, rebuilt when missing or stale). */
  readonly dataDir: string;
  readonly dimensions: number;
  /** Encoder of the passages. */
  readonly textModelId: string;
  /** Encoder of the spoken items. */
  readonly speechModelId: string;
  /** Refuse with `index_missing` instead of starting an empty index. Default false. */
  readonly mustExist?: boolean;
  /** Threads for building a vector index, 0 for all cores; see UsearchOptions. Default 1. */
  readonly threads?: number;
  readonly onProgress?: (progress: IndexProgress) => void;
}

export interface StoreStats {
  readonly documents: number;
  readonly passages: number;
  readonly vectors: number;
  readonly generation: number;
  /** How the vectors came up: read as they were, brought up to date, or rebuilt, and why. */
  readonly opened: string;
}

/** Everything that retrieval reads and ingest writes, under one folder. The stores stay valid across `reload`. */
export interface CorpusIndex {
  readonly passages: PassageStore;
  readonly passageVectors: VectorStore;
  readonly speechVectors: VectorStore;
  readonly keywords: KeywordStore;
  readonly writer: PassageIndex;
  /** Texts of all passages, for mining names. */
  texts(): Iterable<string>;
  /** Stored vector of a key of either store. */
  vectorOf(key: number): Float32Array | null;
  stats(): Readonly<Record<StoreName, StoreStats>>;
  /** Takes up what was published since, by this or another process; searches go on meanwhile. True when something changed. */
  reload(onProgress?: (progress: IndexProgress) => void): Promise<boolean>;
  close(): void;
}

const BATCH = 512;
/** Removed keys leave gaps in the graph; above this share of it a rebuild is better. */
const MOST_REMOVED = 0.3;

interface OpenedVectors {
  readonly store: UsearchStore;
  readonly opened: string;
}

interface Held {
  vectors: Record<StoreName, OpenedVectors>;
  keywords: KeywordStore;
}

/**
 * Opens everything under `dataDir`, bringing derived files up to date. Throws `index_missing` (see `mustExist`) and
 * `index_corrupt` for a damaged database or another model.
 */
export async function createCorpusIndex(options: CorpusIndexOptions): Promise<CorpusIndex> {
  const { dataDir, dimensions } = options;
  const modelIds = { passages: options.textModelId, speech: options.speechModelId };
  const database = openDatabase({
    path: join(dataDir, 'index.sqlite'),
    dimensions,
    modelIds,
    mustExist: options.mustExist ?? false,
  });
  try {
    const held = await openDerived(database, options, modelIds);
    const passages = await createSqlitePassageStore({ database });
    return assemble({ database, held, passages, options, modelIds });
  } catch (cause) {
    database.close();
    throw cause;
  }
}

async function openDerived(
  database: SqliteDatabase,
  options: CorpusIndexOptions,
  modelIds: Readonly<Record<StoreName, string>>,
): Promise<Held> {
  const open = async (store: StoreName): Promise<OpenedVectors> =>
    openVectors(database, store, { ...options, modelId: modelIds[store] });
  const vectors = { passages: await open('passages'), speech: await open('speech') };
  return { vectors, keywords: await createBm25KeywordStore(keywordDocuments(database, 'passages')) };
}

function assemble(parts: {
  readonly database: SqliteDatabase;
  readonly held: Held;
  readonly passages: PassageStore;
  readonly options: CorpusIndexOptions;
  readonly modelIds: Readonly<Record<StoreName, string>>;
}): CorpusIndex {
  const { database, held, options, modelIds } = parts;
  const lookup = createVectorLookup(database);
  let reloading: Promise<boolean> = Promise.resolve(false);

  async function reloadOnce(onProgress: CorpusIndexOptions['onProgress']): Promise<boolean> {
    const stale = STORE_NAMES.filter(
      (store) => held.vectors[store].store.generation !== generationOf(database, store),
    );
    for (const store of stale) {
      const opened = await openVectors(database, store, {
        ...options,
        modelId: modelIds[store],
        ...(onProgress ? { onProgress } : {}),
      });
      if (store === 'passages') {
        held.keywords = await createBm25KeywordStore(keywordDocuments(database, store));
      }
      // Swapped in one step: a search sees the old index whole or the new one.
      held.vectors[store] = opened;
    }
    return stale.length > 0;
  }

  return {
    passages: parts.passages,
    passageVectors: follow(() => held.vectors.passages.store),
    speechVectors: follow(() => held.vectors.speech.store),
    keywords: {
      get size() {
        return held.keywords.size;
      },
      search: (text, k) => held.keywords.search(text, k),
      close: () => held.keywords.close(),
    },
    writer: createSqlitePassageIndex({ database, dimensions: options.dimensions }),
    texts: () => passageTexts(database),
    vectorOf: lookup,
    stats: () => ({
      passages: statsOf(database, 'passages', held.vectors.passages),
      speech: statsOf(database, 'speech', held.vectors.speech),
    }),
    async reload(onProgress) {
      // One after the other, a failed one does not block the next.
      reloading = reloading.then(
        () => reloadOnce(onProgress),
        () => reloadOnce(onProgress),
      );
      return reloading;
    },
    close() {
      held.keywords.close();
      database.close();
    },
  };
}

function statsOf(database: SqliteDatabase, store: StoreName, vectors: OpenedVectors): StoreStats {
  return {
    ...countPassages(database, store),
    vectors: vectors.store.size,
    generation: vectors.store.generation,
    opened: vectors.opened,
  };
}

/** A store that stays the same object while what is behind it is swapped. */
function follow(current: () => VectorStore): VectorStore {
  return {
    get size() {
      return current().size;
    },
    search: (vector, k) => current().search(vector, k),
    write: (change) => current().write(change),
    close: () => current().close(),
  };
}

/**
 * The vector index of a store at the database's generation: read from its file, brought up to date by what was published since,
 * or rebuilt from the stored vectors when the file is missing, damaged, of another model, newer than the database, or too full
 * of gaps. The file is written again when it changed.
 */
async function openVectors(
  database: SqliteDatabase,
  store: StoreName,
  options: CorpusIndexOptions & { readonly modelId: string },
): Promise<OpenedVectors> {
  const path = join(options.dataDir, `${store}.usearch`);
  const generation = generationOf(database, store);
  const usearchOptions = {
    dimensions: options.dimensions,
    modelId: options.modelId,
    threads: options.threads ?? 1,
  };
  if (generation === 0) return { store: await createUsearchStore(usearchOptions), opened: 'empty' };
  const known = await loadCache(path, usearchOptions);
  const removed = known.cache ? keysRemovedSince(database, store, known.cache.generation) : [];
  const usable =
    known.cache !== null &&
    known.cache.generation <= generation &&
    removed.length <= MOST_REMOVED * known.cache.size;
  const index = usable && known.cache ? known.cache : await createUsearchStore(usearchOptions);
  if (usable && index.generation === generation) return { store: index, opened: 'as it was' };
  index.write({ remove: usable ? removed : [] });
  await addSince(database, index, {
    store,
    generation: usable ? index.generation : 0,
    onProgress: options.onProgress,
  });
  await index.save(path, generation);
  return { store: index, opened: usable ? 'brought up to date' : `rebuilt: ${known.reason}` };
}

async function addSince(
  database: SqliteDatabase,
  index: UsearchStore,
  since: {
    readonly store: StoreName;
    readonly generation: number;
    readonly onProgress: CorpusIndexOptions['onProgress'];
  },
): Promise<void> {
  const total = countVectorsSince(database, since.store, since.generation);
  let done = 0;
  for (const batch of vectorsSince(database, since.store, {
    generation: since.generation,
    batchSize: BATCH,
  })) {
    index.write({ add: batch });
    done += batch.length;
    since.onProgress?.({ stage: `index ${since.store}`, done, total: Math.max(done, total) });
    // A server that reloads answers its sockets in between.
    await setImmediate();
  }
}

/** The index of a file, or null and why not. Only what makes the file unusable is swallowed: it is derived data. */
async function loadCache(
  path: string,
  options: UsearchOptions,
): Promise<{ readonly cache: UsearchStore | null; readonly reason: string }> {
  try {
    return { cache: await loadUsearchStore(path, options), reason: 'out of date' };
  } catch (cause) {
    const derived =
      cause instanceof AuscultError && (cause.code === 'index_missing' || cause.code === 'index_corrupt');
    if (!derived) throw cause;
    return { cache: null, reason: cause.message };
  }
}
