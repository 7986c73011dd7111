import type { QuerySource, StoreName } from '../../shared/evidence.js';
import type { RetrievalSettings } from '../../shared/protocol.js';

/** One passage that a store gave for one query. */
export interface Candidate {
  readonly id: string;
  readonly documentId: string;
  /** What this list is ordered by: a cosine, or the score of a hybrid branch. Any scale. */
  readonly value: number;
  /** Cosine of query and passage, −1 … 1. */
  readonly raw: number;
  /** Window of the utterance that gave it; null for a text query. */
  readonly window: number | null;
}

/** What one store gave for one query. */
export interface CandidateList {
  /** Which query of the request, from 0: lists of one query are normalised together. */
  readonly query: number;
  readonly store: StoreName;
  readonly source: QuerySource;
  /** Weight of the query, > 0; only ratios matter. */
  readonly weight: number;
  readonly candidates: readonly Candidate[];
}

export interface NormalisedCandidate extends Candidate {
  /** Standard deviations above the mean of its list. */
  readonly normalised: number;
  /** Place in its list, 1 is best. */
  readonly rank: number;
}

/** A passage with what all lists said about it. */
export interface FusedHit {
  readonly id: string;
  readonly documentId: string;
  readonly store: StoreName;
  /** Query that found it best, and that query's figures. */
  readonly source: QuerySource;
  readonly window: number | null;
  readonly raw: number;
  readonly normalised: number;
  /** What hits are ordered by. */
  readonly score: number;
}

export type FusionMethod = RetrievalSettings['fusion'];

/** Constant of reciprocal rank fusion (Cormack, Clarke & Büttcher 2009): how little the first ranks stand out. */
export const RRF_CONSTANT = 60;

/**
 * A list shorter than this says little about its own spread, and two scores that differ by noise would become ±1; it borrows
 * the widest spread among the other lists of the query instead, when that is wider.
 */
const SMALLEST_LIST_WITH_ITS_OWN_SPREAD = 8;

/** Spreads below this are rounding: every candidate is then at the mean. */
const SMALLEST_SPREAD = 1e-9;

/** Order of a list: higher value, then higher cosine, then smaller id, so that ties are the same in every run. */
function byValue(a: Candidate, b: Candidate): number {
  return b.value - a.value || b.raw - a.raw || compareIds(a.id, b.id);
}

function compareIds(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * One candidate a passage from the hits of all windows: the best window speaks for it (max pooling over windows). Returned best
 * first, at most `limit`.
 */
export function poolWindows(candidates: readonly Candidate[], limit: number): Candidate[] {
  const best = new Map<string, Candidate>();
  for (const candidate of candidates) {
    const known = best.get(candidate.id);
    if (!known || isBetterWindow(candidate, known)) best.set(candidate.id, candidate);
  }
  return [...best.values()].sort(byValue).slice(0, limit);
}

function isBetterWindow(a: Candidate, b: Candidate): boolean {
  return a.value > b.value || (a.value === b.value && (a.window ?? -1) < (b.window ?? -1));
}

interface Moments {
  readonly mean: number;
  readonly deviation: number;
}

function momentsOf(values: readonly number[]): Moments {
  if (values.length === 0) return { mean: 0, deviation: 0 };
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return { mean, deviation: Math.sqrt(variance) };
}

/**
 * Standard scores of each list by itself: (value − mean) / standard deviation, the population's. A list of one, or of equal
 * values, is all zeros. Lists of one query should be passed together, since a tiny one borrows the others' spread.
 */
export function normaliseLists(lists: readonly CandidateList[]): NormalisedCandidate[][] {
  const moments = lists.map((list) => momentsOf(list.candidates.map((candidate) => candidate.value)));
  return lists.map((list, index) => {
    const own = moments[index] ?? { mean: 0, deviation: 0 };
    const others = moments.filter((_, other) => other !== index).map((other) => other.deviation);
    const tiny = list.candidates.length < SMALLEST_LIST_WITH_ITS_OWN_SPREAD;
    const deviation = tiny ? Math.max(own.deviation, ...others) : own.deviation;
    return [...list.candidates].sort(byValue).map((candidate, place) => ({
      ...candidate,
      rank: place + 1,
      normalised: deviation < SMALLEST_SPREAD ? 0 : (candidate.value - own.mean) / deviation,
    }));
  });
}

/** What one list gives to a passage under each method. */
function contribution(method: FusionMethod, candidate: NormalisedCandidate): number {
  switch (method) {
    case 'zscore':
      return candidate.normalised;
    case 'rrf':
      return 1 / (RRF_CONSTANT + candidate.rank);
    case 'raw':
      return candidate.raw;
  }
}

/** What a list gives to a passage that it does not hold: no more than its last candidate; nothing in rank fusion. */
function absence(method: FusionMethod, list: readonly NormalisedCandidate[]): number {
  if (method === 'rrf' || list.length === 0) return 0;
  return Math.min(...list.map((candidate) => contribution(method, candidate)));
}

interface Tally {
  readonly store: StoreName;
  readonly given: Map<number, NormalisedCandidate>;
}

/**
 * Merges lists of several queries and stores into one, best first; passages are not yet merged by document.
 * `zscore`: weighted mean over the queries of the standard score in the passage's own store; `rrf`: weighted sum of 1 / (60 + rank);
 * `raw`: weighted mean of cosines, kept for comparison: the store with the larger scale swallows the list.
 */
export function fuseLists(lists: readonly CandidateList[], method: FusionMethod): FusedHit[] {
  const normalised = normaliseByQuery(lists);
  const tallies = new Map<string, Tally>();
  normalised.forEach((candidates, listIndex) => {
    const store = lists[listIndex]?.store ?? 'passages';
    for (const candidate of candidates) {
      const tally = tallies.get(candidate.id) ?? { store, given: new Map() };
      tally.given.set(listIndex, candidate);
      tallies.set(candidate.id, tally);
    }
  });
  const absences = normalised.map((list) => absence(method, list));
  const hits = [...tallies].map(([id, tally]) => {
    return scoreTally({ id, tally }, { lists, absences, method });
  });
  return hits.sort(compareFused);
}

/** Each query's lists are normalised together; lists keep their order. */
export function normaliseByQuery(lists: readonly CandidateList[]): NormalisedCandidate[][] {
  const result: NormalisedCandidate[][] = lists.map(() => []);
  for (const query of new Set(lists.map((list) => list.query))) {
    const indexes = lists.flatMap((list, index) => (list.query === query ? [index] : []));
    const group = normaliseLists(lists.filter((list) => list.query === query));
    indexes.forEach((listIndex, place) => {
      result[listIndex] = group[place] ?? [];
    });
  }
  return result;
}

function scoreTally(
  passage: { readonly id: string; readonly tally: Tally },
  context: {
    readonly lists: readonly CandidateList[];
    readonly absences: readonly number[];
    readonly method: FusionMethod;
  },
): FusedHit {
  const { lists, absences, method } = context;
  const { store, given } = passage.tally;
  let sum = 0;
  let weights = 0;
  let bestShare = -Infinity;
  let found: { readonly list: CandidateList; readonly candidate: NormalisedCandidate } | undefined;
  for (const [index, list] of lists.entries()) {
    if (list.store !== store || list.candidates.length === 0) continue;
    const candidate = given.get(index);
    const share = list.weight * (candidate ? contribution(method, candidate) : (absences[index] ?? 0));
    sum += share;
    weights += list.weight;
    if (!candidate || share <= bestShare) continue;
    bestShare = share;
    found = { list, candidate };
  }
  if (!found) throw new RangeError('A passage without a list cannot be scored.');
  return {
    id: passage.id,
    documentId: found.candidate.documentId,
    store,
    source: found.list.source,
    window: found.candidate.window,
    raw: found.candidate.raw,
    normalised: found.candidate.normalised,
    score: method === 'rrf' ? sum : sum / weights,
  };
}

/** Higher score, then higher standard score, then higher cosine, then smaller id. */
function compareFused(a: FusedHit, b: FusedHit): number {
  return b.score - a.score || b.normalised - a.normalised || b.raw - a.raw || compareIds(a.id, b.id);
}

/** One hit a document, its best passage; hits come best first and stay so. */
export function mergeByDocument(hits: readonly FusedHit[]): FusedHit[] {
  const seen = new Set<string>();
  return hits.filter((hit) => {
    if (seen.has(hit.documentId)) return false;
    seen.add(hit.documentId);
    return true;
  });
}

/** Reciprocal rank fusion of lists of ids, each best first: ids with their sums, best first. */
export function fuseRanks<T extends string | number>(
  rankings: ReadonlyArray<readonly T[]>,
): Array<{ readonly id: T; readonly score: number }> {
  const sums = new Map<T, number>();
  for (const ranking of rankings) {
    ranking.forEach((id, place) => sums.set(id, (sums.get(id) ?? 0) + 1 / (RRF_CONSTANT + place + 1)));
  }
  return [...sums]
    .map(([id, score]) => ({ id, score }))
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
}
