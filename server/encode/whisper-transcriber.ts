import { createOnnxSession } from './onnx-session.js';
import type { EncodedWindow } from './speech-encoder.js';
import type { Transcriber, Transcript, TranscriptToken } from './transcriber.js';
import type { Weights } from './weights.js';
import type { DecodedWindow } from './words-decoder.js';
import { WordsDecoder } from './words-decoder.js';
import { joinWindows } from './words-join.js';
import { loadWordsTokenizer } from './words-tokenizer.js';

const DECODER = 'words-decoder.onnx';
const TOKENIZER = 'words-tokenizer.json';

export interface WhisperTranscriberOptions {
  /** The models folder; both files are verified against its manifest. */
  readonly weights: Pick<Weights, 'pathOf' | 'verify'>;
  /** Threads within one operator, ≥ 1; default 1. */
  readonly threads?: number;
  /** Default `worker`: a token takes milliseconds, which the event loop cannot spare. */
  readonly thread?: 'main' | 'worker';
}

/** Limits of the silence guard: what lies beyond is taken for silence or noise. */
export interface SilenceLimits {
  /** Probability of "no speech" at the start token, 0 … 1; 1 turns the first half of the guard off. */
  readonly noSpeech: number;
  /** Mean log-probability a token, at most 0, asked when `noSpeech` is passed. */
  readonly meanLogProbability: number;
  /** Mean log-probability below which nothing is believed, whatever the start token says. */
  readonly hopeless: number;
}

/** Chosen on recorded noises and recorded speech (bench/words.ts prints both sides). */
export const SILENCE_LIMITS: SilenceLimits = { noSpeech: 0.6, meanLogProbability: -1, hopeless: -1.7 };

/**
 * Loads Whisper-base's decoder (int8, 55 MB).
 * Errors: `model_missing`, `model_corrupt`.
 */
export async function createWhisperTranscriber(options: WhisperTranscriberOptions): Promise<Transcriber> {
  const { weights } = options;
  await weights.verify([DECODER, TOKENIZER]);
  const tokenizer = loadWordsTokenizer(weights.pathOf(TOKENIZER));
  const session = await createOnnxSession({
    path: weights.pathOf(DECODER),
    threads: options.threads ?? 1,
    thread: options.thread ?? 'worker',
  });
  const decoder = new WordsDecoder(session, tokenizer);

  const hear = async (window: EncodedWindow, signal?: AbortSignal): Promise<TranscriptToken[]> => {
    const decoded = await decoder.decode(window, signal);
    if (isSilence(decoded)) return [];
    const texts = tokenizer.texts(decoded.ids);
    return texts.map((text, place) => ({ text, confidence: decoded.confidences[place] ?? 0 }));
  };
  return {
    modelId: 'whisper-base-words-int8',
    async transcribe(windows, signal) {
      const heard: TranscriptToken[][] = [];
      for (const window of windows) heard.push(await hear(window, signal));
      return toTranscript(joinWindows(heard));
    },
    close: () => session.close(),
  };
}

/** Whether a window is to be taken as silent: Whisper's own rule (Radford et al. 2022, section 4.5), and a floor. */
export function isSilence(
  decoded: Pick<DecodedWindow, 'confidences' | 'noSpeech'>,
  limits: SilenceLimits = SILENCE_LIMITS,
): boolean {
  const mean = meanLog(decoded.confidences);
  return mean < limits.hopeless || (decoded.noSpeech > limits.noSpeech && mean < limits.meanLogProbability);
}

function toTranscript(tokens: readonly TranscriptToken[]): Transcript {
  const text = tokens
    .map((token) => token.text)
    .join('')
    .trim();
  // Without a letter or digit nothing was said: "..." is how the model writes a pause.
  if (!/[\p{L}\p{N}]/u.test(text)) return { text: '', tokens: [], confidence: 0 };
  return { text, tokens, confidence: Math.exp(meanLog(tokens.map((token) => token.confidence))) };
}

function meanLog(confidences: readonly number[]): number {
  if (confidences.length === 0) return -Infinity;
  return confidences.reduce((sum, value) => sum + Math.log(Math.max(value, 1e-12)), 0) / confidences.length;
}
