/** Some encoders prefix queries and passages differently; those that do not ignore it. */
export type TextRole = 'query' | 'passage';

/**
 * PORT. Texts → unit vectors.
 * Contract: one vector of `dimensions` per text, in order, each of length 1; the same text gives the same vector whatever
 * shares the batch; texts longer than the model reads are cut at its limit; an aborted signal rejects with `aborted`.
 */
export interface TextEncoder {
  readonly dimensions: number;
  readonly modelId: string;
  encode(texts: readonly string[], role: TextRole, signal?: AbortSignal): Promise<Float32Array[]>;
  close(): Promise<void>;
}
