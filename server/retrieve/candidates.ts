import type { Candidate } from './fuse.js';
import { fuseRanks, poolWindows } from './fuse.js';
import type { KeywordHit, KeywordStore } from './keyword-store.js';
import type { Passage, PassageStore } from './passage-store.js';
import type { Reranker } from './reranker.js';
import type { Query } from './retriever.js';
import { dot } from './unit-vector.js';
import type { VectorStore } from './vector-store.js';
import type { StoreName } from '../../shared/evidence.js';

export interface SearchedStores {
  readonly passages: PassageStore;
  readonly speechVectors: VectorStore;
  readonly passageVectors: VectorStore;
  readonly keywords: KeywordStore;
  /** Stored vector of a key of the passages, for the cosine of what only the keywords found. */
  readonly vectorOf?: (key: number) => Float32Array | null;
  readonly reranker?: Reranker | null;
}

/** What one request has met so far: passages by id, the words that found them, ids to leave out. */
export interface Gathering {
  readonly found: Map<string, Passage>;
  readonly terms: Map<string, readonly string[]>;
  readonly excludeIds: ReadonlySet<string>;
}

/** Excluded ids are searched for on top of the depth, up to this many, so that leaving them out does not shorten the list. */
const MOST_EXTRA_FOR_EXCLUDED = 200;

function isExcluded(passage: Passage, excludeIds: ReadonlySet<string>): boolean {
  return excludeIds.has(passage.id) || excludeIds.has(passage.documentId);
}

/** Nearest items of one store for all windows of a query, one candidate a passage, best first. */
export function denseCandidates(
  request: {
    readonly stores: SearchedStores;
    readonly store: StoreName;
    readonly vectors: readonly Float32Array[];
    readonly depth: number;
    readonly isSpeech: boolean;
  },
  gathering: Gathering,
): Candidate[] {
  const { stores, store, depth } = request;
  const vectorStore = store === 'speech' ? stores.speechVectors : stores.passageVectors;
  const asked = depth + Math.min(gathering.excludeIds.size, MOST_EXTRA_FOR_EXCLUDED);
  const candidates = request.vectors.flatMap((vector, window) => {
    const hits = vectorStore.search(vector, asked);
    const scores = new Map(hits.map((hit) => [hit.key, hit.score]));
    return stores.passages.byKeys(store, [...scores.keys()]).flatMap((passage) => {
      if (isExcluded(passage, gathering.excludeIds)) return [];
      gathering.found.set(passage.id, passage);
      const raw = scores.get(passage.key) ?? -1;
      const { id, documentId } = passage;
      return [{ id, documentId, value: raw, raw, window: request.isSpeech ? window : null }];
    });
  });
  return poolWindows(candidates, depth);
}

/**
 * The hybrid branch of a written query over the passages: keywords and nearest vectors, fused by rank, then reranked where a
 * reranker exists. The list's values are the fused or reranked scores; `raw` stays the cosine.
 */
export async function hybridCandidates(
  request: {
    readonly stores: SearchedStores;
    readonly query: Query;
    readonly text: string;
    readonly dense: readonly Candidate[];
    readonly depth: number;
    readonly signal?: AbortSignal | undefined;
  },
  gathering: Gathering,
): Promise<Candidate[]> {
  const { stores, query, text, dense, depth } = request;
  const denseById = new Map(dense.map((candidate) => [candidate.id, candidate]));
  const worded = keywordPassages(stores, { text, depth }, gathering);
  const fused = fuseRanks([dense.map(({ id }) => id), worded.map(({ id }) => id)]).slice(0, depth);
  const floor = Math.min(...dense.map((candidate) => candidate.raw), 0);
  const candidates = fused.flatMap(({ id, score }): Candidate[] => {
    const passage = gathering.found.get(id);
    if (!passage) return [];
    const raw = denseById.get(id)?.raw ?? cosineOf(stores, query, passage.key) ?? floor;
    return [{ id, documentId: passage.documentId, value: score, raw, window: null }];
  });
  return rerank(candidates, request, gathering);
}

function keywordPassages(
  stores: SearchedStores,
  request: { readonly text: string; readonly depth: number },
  gathering: Gathering,
): Passage[] {
  const asked = request.depth + Math.min(gathering.excludeIds.size, MOST_EXTRA_FOR_EXCLUDED);
  const hits = new Map<number, KeywordHit>();
  for (const hit of stores.keywords.search(request.text, asked)) hits.set(hit.key, hit);
  const passages = stores.passages
    .byKeys('passages', [...hits.keys()])
    .filter((passage) => !isExcluded(passage, gathering.excludeIds))
    .slice(0, request.depth);
  for (const passage of passages) {
    if (!gathering.found.has(passage.id)) gathering.found.set(passage.id, passage);
    const known = gathering.terms.get(passage.id) ?? [];
    gathering.terms.set(passage.id, [...new Set([...known, ...(hits.get(passage.key)?.terms ?? [])])]);
  }
  return passages;
}

/** Best cosine over the query's vectors; undefined where the stored vector is out of reach. */
function cosineOf(stores: SearchedStores, query: Query, key: number): number | undefined {
  const stored = stores.vectorOf?.(key);
  if (!stored || query.vectors.length === 0) return undefined;
  return Math.max(...query.vectors.map((vector) => dot(vector, stored)));
}

async function rerank(
  candidates: Candidate[],
  request: {
    readonly stores: SearchedStores;
    readonly text: string;
    readonly signal?: AbortSignal | undefined;
  },
  gathering: Gathering,
): Promise<Candidate[]> {
  const { reranker } = request.stores;
  if (!reranker || candidates.length === 0) return candidates;
  const texts = candidates.map(({ id }) => gathering.found.get(id)?.text ?? '');
  const scores = await reranker.score(request.text, texts, request.signal);
  return candidates.map((candidate, index) => ({ ...candidate, value: scores[index] ?? candidate.value }));
}
