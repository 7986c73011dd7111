import type { EncodedWindow } from './speech-encoder.js';

export interface TranscriptToken {
  readonly text: string;
  /** Probability that the decoder gave it, 0 … 1. */
  readonly confidence: number;
}

export interface Transcript {
  readonly text: string;
  readonly tokens: readonly TranscriptToken[];
  /** Geometric mean of the token confidences; 0 for an empty transcript. */
  readonly confidence: number;
}

/**
 * PORT. Words from the features that the speech encoder has already computed.
 * Contract: windows of one utterance in order → one transcript of it, overlaps joined; silence gives an empty text, never an
 * invented one; an aborted signal rejects with `aborted` before the next token.
 */
export interface Transcriber {
  readonly modelId: string;
  transcribe(windows: readonly EncodedWindow[], signal?: AbortSignal): Promise<Transcript>;
  close(): Promise<void>;
}
