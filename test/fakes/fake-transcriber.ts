import type { Transcriber, Transcript } from '../../server/encode/transcriber.js';
import { AuscultError } from '../../server/errors.js';

export interface FakeTranscriberOptions {
  /** What each call hears, in order; the last is heard again. Default: one short question. */
  readonly heard?: readonly string[];
  /** Confidence of every token, 0 … 1; default 0.9. */
  readonly confidence?: number;
  /** Awaited before each token: a test can hold the decoder here. */
  readonly beforeToken?: () => Promise<void>;
}

export interface FakeTranscriber extends Transcriber {
  /** How often it was asked. */
  readonly calls: number;
  readonly closed: boolean;
}

/** A transcriber that hears what it is told; windows whose features are all zero are silent to it. */
export function createFakeTranscriber(options: FakeTranscriberOptions = {}): FakeTranscriber {
  const { heard = ['what lowers blood pressure'], confidence = 0.9 } = options;
  const state = { calls: 0, closed: false };
  return {
    modelId: 'fake-transcriber',
    get calls() {
      return state.calls;
    },
    get closed() {
      return state.closed;
    },
    async transcribe(windows, signal) {
      const said = heard[Math.min(state.calls++, heard.length - 1)] ?? '';
      const silent = windows.every((window) => window.features.every((value) => value === 0));
      const words = silent || said === '' ? [] : said.split(' ');
      for (let at = 0; at <= words.length; at++) {
        if (signal?.aborted) throw new AuscultError('aborted', { message: 'Cancelled.' });
        await (options.beforeToken?.() ?? Promise.resolve());
      }
      if (signal?.aborted) throw new AuscultError('aborted', { message: 'Cancelled.' });
      return toTranscript(words, confidence);
    },
    async close() {
      state.closed = true;
    },
  };
}

function toTranscript(words: readonly string[], confidence: number): Transcript {
  const tokens = words.map((word) => ({ text: ` ${word}`, confidence }));
  return { text: words.join(' '), tokens, confidence: words.length === 0 ? 0 : confidence };
}
