import type { Clock } from './clock.js';
import type { VoiceDetector } from './audio/voice-detector.js';
import type { SpeechEncoder } from './encode/speech-encoder.js';
import type { TextEncoder } from './encode/text-encoder.js';
import type { Transcriber } from './encode/transcriber.js';
import type { Generator } from './generate/generator.js';
import type { Grounder } from './ground/grounding.js';
import type { SafetyCheck } from './ground/safety-check.js';
import type { Judge } from './refine/judge.js';
import type { PassageStore } from './retrieve/passage-store.js';
import type { Retriever } from './retrieve/retriever.js';
import type { TraceSink } from './trace/trace-sink.js';

/** Everything a session needs, in the order in which a question flows through it. */
export interface Engines {
  readonly clock: Clock;
  /** A detector has a stream's state: one per connection. */
  createVoiceDetector(): VoiceDetector;
  readonly speechEncoder: SpeechEncoder;
  readonly textEncoder: TextEncoder;
  /** Loads on first use, so that mode `speech` never has a decoder in memory; null when there is none. */
  readonly transcriber: (() => Promise<Transcriber>) | null;
  readonly passages: PassageStore;
  readonly retriever: Retriever;
  readonly grounder: Grounder;
  readonly safety: SafetyCheck;
  readonly generator: Generator;
  readonly judge: Judge;
  readonly traceSink: TraceSink;
  /** Manifest of this run, named by every trace. */
  readonly runId: string;
}
