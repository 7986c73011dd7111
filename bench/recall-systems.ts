import { windowsOf } from '../server/audio/windower.js';
import type { SpeechEncoder } from '../server/encode/speech-encoder.js';
import type { TextEncoder } from '../server/encode/text-encoder.js';
import type { Transcriber } from '../server/encode/transcriber.js';
import type { SearchedCorpus } from './recall-corpus.js';

export const SYSTEMS = ['text', 'speech', 'asr', 'bm25-asr', 'speech+asr'] as const;
/**
 * `text`: the written question; `speech`: the ear's vectors; `asr`: our transcript through the text encoder; `bm25-asr`: its words
 * as keywords; `speech+asr`: sound and words fused by the server's retriever.
 */
export type System = (typeof SYSTEMS)[number];

/** One query's ranked documents, and milliseconds from the end of the utterance (or the finished text) to them. */
export interface Answered {
  readonly ranking: readonly string[];
  readonly ms: number;
}

export interface Encoders {
  readonly ear: SpeechEncoder;
  readonly text: TextEncoder;
  /** Null when no system needs words. */
  readonly transcriber: Transcriber | null;
}

const DEPTH = 10;

export async function askInWriting(
  text: string,
  encoder: TextEncoder,
  corpus: SearchedCorpus,
): Promise<Answered> {
  const start = performance.now();
  const ranking = corpus.byVectors(await encoder.encode([text], 'query'), DEPTH);
  return { ranking, ms: performance.now() - start };
}

/**
 * One utterance through every system asked for. Stages that systems share run once, and each system is charged for all that it
 * uses: the ear's pass for `speech`; that pass, the decoder and the text encoder for `asr`; and so on.
 */
export async function askAloud(
  samples: Float32Array,
  systems: readonly System[],
  { encoders, corpus }: { readonly encoders: Encoders; readonly corpus: SearchedCorpus },
): Promise<Map<System, Answered>> {
  const answers = new Map<System, Answered>();
  const windows = windowsOf(samples.length).map(({ startSample, endSample }) =>
    samples.slice(startSample, endSample),
  );
  const ear = await timed(() => encoders.ear.encode(windows));
  const heard = ear.value.map(({ vector }) => vector);
  const put = (system: System, beforeMs: number, search: { value: readonly string[]; ms: number }): void =>
    void answers.set(system, { ranking: search.value, ms: beforeMs + search.ms });
  if (systems.includes('speech')) put('speech', ear.ms, await timed(() => corpus.byVectors(heard, DEPTH)));
  const { transcriber } = encoders;
  if (!transcriber || !systems.some(needsWords)) return answers;

  const words = await timed(() => transcriber.transcribe(ear.value));
  const { text } = words.value;
  const wordsMs = ear.ms + words.ms;
  if (systems.includes('bm25-asr')) {
    put('bm25-asr', wordsMs, await timed(() => corpus.byKeywords(text, DEPTH)));
  }
  // Nothing understood: the cascade has no query, and finds nothing.
  const embedded = await timed(() => (text === '' ? [] : encoders.text.encode([text], 'query')));
  const embeddedMs = wordsMs + embedded.ms;
  if (systems.includes('asr')) {
    const search = await timed(() => (text === '' ? [] : corpus.byVectors(embedded.value, DEPTH)));
    put('asr', embeddedMs, search);
  }
  if (systems.includes('speech+asr')) {
    const asr = { source: 'asr', vectors: embedded.value, text } as const;
    const queries = [{ source: 'speech', vectors: heard } as const, ...(text === '' ? [] : [asr])];
    const settings = { k: DEPTH, fusion: 'zscore', maxRounds: 1 } as const;
    const search = await timed(() => corpus.retriever.retrieve({ queries, settings }));
    put('speech+asr', embeddedMs, {
      value: search.value.items.map((item) => item.documentId),
      ms: search.ms,
    });
  }
  return answers;
}

/** Whether a system needs a transcript. */
export function needsWords(system: System): boolean {
  return system !== 'text' && system !== 'speech';
}

async function timed<T>(work: () => T | Promise<T>): Promise<{ value: T; ms: number }> {
  const start = performance.now();
  const value = await work();
  return { value, ms: performance.now() - start };
}
