import type { EvidenceItem, StoreName } from '../../shared/evidence.js';
import type { Clock } from '../clock.js';
import { AuscultError } from '../errors.js';
import { denseCandidates, hybridCandidates } from './candidates.js';
import type { Gathering, SearchedStores } from './candidates.js';
import { fuseLists, mergeByDocument, normaliseByQuery } from './fuse.js';
import type { CandidateList, FusedHit } from './fuse.js';
import type { Passage } from './passage-store.js';
import type { Query, Retrieval, RetrievalRequest, RetrievedHit, Retriever } from './retriever.js';

export interface VectorRetrieverOptions extends SearchedStores {
  readonly clock: Clock;
  /**
   * Candidates taken from each store for each query before fusion, 10 … 500; at least twice the k asked for is taken. More let
   * merging by document and exclusion run dry later, and steady the mean and spread that scores are normalised by. Default 50.
   */
  readonly candidates?: number;
}

const STORES: readonly StoreName[] = ['speech', 'passages'];

/**
 * Queries both stores with every vector of every query, adds keywords for written queries, normalises each list by itself,
 * fuses, merges by document and explains. `retrieveSpeechMs` is the time of queries of sound, `retrieveTextMs` of written ones.
 * Throws `aborted`, and `index_corrupt` for vectors of another model.
 */
export async function createVectorRetriever(options: VectorRetrieverOptions): Promise<Retriever> {
  const { clock } = options;
  return {
    async retrieve(request, signal) {
      const gathering: Gathering = {
        found: new Map(),
        terms: new Map(),
        excludeIds: request.excludeIds ?? new Set(),
      };
      const depth = Math.max(options.candidates ?? 50, 2 * request.settings.k);
      const spent = { speech: 0, text: 0 };
      const lists: CandidateList[] = [];
      for (const [number, query] of request.queries.entries()) {
        assertGoing(signal);
        const startMs = clock.nowMs();
        lists.push(...(await listsOf(query, { number, depth, stores: options, signal }, gathering)));
        spent[query.source === 'speech' ? 'speech' : 'text'] += clock.nowMs() - startMs;
      }
      assertGoing(signal);
      const fuseStartMs = clock.nowMs();
      const answer = answerOf(lists, request, gathering);
      return {
        ...answer,
        timings: {
          retrieveSpeechMs: spent.speech,
          retrieveTextMs: spent.text,
          fuseMs: clock.nowMs() - fuseStartMs,
        },
      };
    },
  };
}

function assertGoing(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw new AuscultError('aborted', { message: 'The retrieval was cancelled.', cause: signal.reason });
}

/** One list a store for one query. */
async function listsOf(
  query: Query,
  context: {
    readonly number: number;
    readonly depth: number;
    readonly stores: SearchedStores;
    readonly signal: AbortSignal | undefined;
  },
  gathering: Gathering,
): Promise<CandidateList[]> {
  const { depth, stores, signal } = context;
  const isSpeech = query.source === 'speech';
  const lists: CandidateList[] = [];
  for (const store of STORES) {
    const dense = denseCandidates({ stores, store, vectors: query.vectors, depth, isSpeech }, gathering);
    // Sound has no words, whatever a caller put there: nothing of a text may reach a strict speech query.
    const text = isSpeech || store === 'speech' ? undefined : query.text;
    const candidates =
      text === undefined
        ? dense
        : await hybridCandidates({ stores, query, text, dense, depth, signal }, gathering);
    lists.push({ query: context.number, store, source: query.source, weight: query.weight ?? 1, candidates });
  }
  return lists;
}

function answerOf(
  lists: readonly CandidateList[],
  request: RetrievalRequest,
  gathering: Gathering,
): Omit<Retrieval, 'timings'> {
  const { k, fusion } = request.settings;
  const merged = mergeByDocument(fuseLists(lists, fusion)).slice(0, k);
  const items = merged.flatMap((hit, index) => {
    const passage = gathering.found.get(hit.id);
    return passage ? [toItem(hit, { passage, rank: index + 1, terms: gathering.terms.get(hit.id) })] : [];
  });
  return { items, hits: traceHits(lists), bestScore: bestRaw(lists) };
}

function bestRaw(lists: readonly CandidateList[]): number {
  let best = -1;
  for (const { candidates } of lists) for (const { raw } of candidates) best = Math.max(best, raw);
  return best;
}

function traceHits(lists: readonly CandidateList[]): RetrievedHit[] {
  return normaliseByQuery(lists).flatMap((candidates, index) => {
    const list = lists[index];
    if (!list) return [];
    return candidates.map((candidate) => ({
      id: candidate.id,
      documentId: candidate.documentId,
      store: list.store,
      source: list.source,
      window: candidate.window,
      rawScore: candidate.raw,
      normalisedScore: candidate.normalised,
    }));
  });
}

/** Address under which a passage's recording is played. */
export function clipUrl(passageId: string): string {
  return `/v1/clips/${encodeURIComponent(passageId)}`;
}

function toItem(
  hit: FusedHit,
  shown: {
    readonly passage: Passage;
    readonly rank: number;
    readonly terms: readonly string[] | undefined;
  },
): EvidenceItem {
  const { passage, rank, terms } = shown;
  return {
    id: passage.id,
    rank,
    store: passage.store,
    documentId: passage.documentId,
    title: passage.title,
    text: passage.text,
    ...(passage.url === undefined ? {} : { url: passage.url }),
    score: hit.score,
    rawScore: hit.raw,
    normalisedScore: hit.normalised,
    querySource: hit.source,
    matchedWindow: hit.window,
    ...(terms === undefined || terms.length === 0 ? {} : { matchedTerms: [...terms] }),
    span: { start: passage.start, end: passage.end },
    ...clipOf(passage),
  };
}

/** The playable part; where the file lies on the server stays there. */
function clipOf(passage: Passage): Pick<EvidenceItem, 'clip'> {
  if (!passage.clip) return {};
  const { recordingId, startMs, endMs, speaker, previousId, nextId } = passage.clip;
  return {
    clip: {
      recordingId,
      url: clipUrl(passage.id),
      startMs,
      endMs,
      ...(speaker === undefined ? {} : { speaker }),
      ...(previousId === undefined ? {} : { previousId }),
      ...(nextId === undefined ? {} : { nextId }),
    },
  };
}
