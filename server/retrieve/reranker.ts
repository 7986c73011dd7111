/**
 * PORT. Orders candidates by reading question and passage together.
 * Contract: one score per passage, in order, higher is better; scores of one call are comparable with each other only.
 */
export interface Reranker {
  readonly id: string;
  score(question: string, passages: readonly string[], signal?: AbortSignal): Promise<number[]>;
}
