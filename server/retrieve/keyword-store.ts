export interface KeywordHit {
  readonly key: number;
  /** BM25 score, ≥ 0. */
  readonly score: number;
  /** Query words found in the passage. */
  readonly terms: readonly string[];
}

/**
 * PORT. BM25 over passages (k1 1.5, b 0.75; Robertson & Zaragoza 2009, section 3.3).
 * Contract: at most `k` hits, best first, ties by key; a query of unknown words gives none.
 */
export interface KeywordStore {
  readonly size: number;
  search(text: string, k: number): KeywordHit[];
  close(): void;
}
