import type { Engines } from '../../server/engines.js';
import type { EncodedWindow } from '../../server/encode/speech-encoder.js';
import { createFakeClock, type FakeClock } from './fake-clock.js';
import { createFakeGenerator, type FakeGenerator, type FakeGeneratorOptions } from './fake-generator.js';
import { createFakeJudge } from './fake-judge.js';
import { createFakePassageStore } from './fake-passage-store.js';
import { createFakeRetriever, type FakeRetriever, type FakeRound } from './fake-retriever.js';
import { createWordEncoder, WORD_DIMENSIONS } from '../fixtures/word-encoder.js';
import { evidenceOf } from '../fixtures/prompts.js';
import type { TurnTrace } from '../../server/trace/trace.js';

export interface FakeEngines extends Engines {
  readonly clock: FakeClock;
  readonly retriever: FakeRetriever;
  readonly generator: FakeGenerator;
  readonly traces: TurnTrace[];
  /** Lengths, in samples, of every window that the ear was given. */
  readonly encodedSamples: number[];
  /** How often the transcriber was loaded. */
  readonly transcriberLoads: () => number;
}

export interface FakeEnginesOptions {
  readonly rounds?: readonly FakeRound[];
  readonly generator?: FakeGeneratorOptions;
  /** Words that the transcriber hears in everything; absent: there is no transcriber. */
  readonly words?: string;
  /** Milliseconds of the clock that encoding takes; 0 answers at once. */
  readonly encodeMs?: number;
  readonly over?: Partial<Engines>;
}

/** Sound louder than this is speech to the fake detector. */
export const LOUD = 0.1;

/** All engines as fakes on one clock that the test turns. A tone is speech, silence is silence. */
export function createFakeEngines(options: FakeEnginesOptions = {}): FakeEngines {
  const clock = createFakeClock();
  const traces: TurnTrace[] = [];
  const encodedSamples: number[] = [];
  const rounds = options.rounds ?? [
    { items: [evidenceOf('salt#0', 'Hypertension is lasting high blood pressure.')] },
  ];
  let loads = 0;
  const encodeWindow = (samples: Float32Array): EncodedWindow => {
    encodedSamples.push(samples.length);
    const vector = new Float32Array(WORD_DIMENSIONS);
    vector[0] = 1;
    return { vector, features: new Float32Array(512), frames: 1 };
  };
  return {
    clock,
    traces,
    encodedSamples,
    transcriberLoads: () => loads,
    createVoiceDetector: () => ({
      windowSamples: 512,
      detect: async (window) => (window.some((value) => Math.abs(value) > LOUD) ? 0.95 : 0.02),
      reset: () => undefined,
      close: () => undefined,
    }),
    speechEncoder: {
      dimensions: WORD_DIMENSIONS,
      modelId: 'fake-ear',
      async encode(windows) {
        if (options.encodeMs)
          await new Promise<void>((resolve) => clock.after(options.encodeMs ?? 0, resolve));
        return windows.map(encodeWindow);
      },
      close: async () => undefined,
    },
    textEncoder: createWordEncoder(),
    transcriber:
      options.words === undefined
        ? null
        : async () => {
            loads += 1;
            const text = options.words ?? '';
            return {
              modelId: 'fake-words',
              transcribe: async () => ({ text, tokens: [], confidence: 0.9 }),
              close: async () => undefined,
            };
          },
    passages: createFakePassageStore([]),
    retriever: createFakeRetriever(rounds),
    grounder: {
      ground: async () => ({ mentions: [], corrections: [], proposals: [], contrasts: [], gap: null }),
    },
    safety: { check: async () => null },
    generator: createFakeGenerator(options.generator ?? {}),
    judge: createFakeJudge(),
    traceSink: {
      write: async (record) => void traces.push(record),
      read: async (id) => traces.find(({ traceId }) => traceId === id) ?? null,
      remove: async () => 0,
      close: async () => undefined,
    },
    runId: 'run-1',
    ...options.over,
  } as FakeEngines;
}
