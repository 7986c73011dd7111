/** One window of an utterance as the ear heard it. */
export interface EncodedWindow {
  /** Unit vector in the text encoder's space. */
  readonly vector: Float32Array;
  /** Encoder output, row-major [frames, featureDimensions], 20 ms a frame: what a transcriber decodes. */
  readonly features: Float32Array;
  readonly frames: number;
}

/**
 * PORT. Sound → unit vectors in a text-embedding space, no transcript in between.
 * Contract: `encode` takes windows of 16 kHz mono samples (1 … 128,000 each) and returns one result per window, in order,
 * the same whatever shares the batch; an aborted signal rejects with `aborted`; a window that is empty or too long rejects
 * with `unsupported_audio`.
 */
export interface SpeechEncoder {
  readonly dimensions: number;
  readonly modelId: string;
  encode(windows: readonly Float32Array[], signal?: AbortSignal): Promise<EncodedWindow[]>;
  close(): Promise<void>;
}
