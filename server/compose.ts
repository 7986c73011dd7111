import { join } from 'node:path';
import type { IndexProgress } from './retrieve/corpus-index.js';
import type { Clock } from './clock.js';
import { packageRoot, printableConfig, type Config } from './config.js';
import { createSileroDetector } from './audio/silero-detector.js';
import { createOnnxSession } from './encode/onnx-session.js';
import { createCachedTextEncoder } from './encode/cached-text-encoder.js';
import { createOnnxSpeechEncoder } from './encode/onnx-speech-encoder.js';
import { createOnnxTextEncoder } from './encode/onnx-text-encoder.js';
import type { SpeechEncoder } from './encode/speech-encoder.js';
import type { TextEncoder } from './encode/text-encoder.js';
import type { Transcriber } from './encode/transcriber.js';
import { openWeights, type Weights } from './encode/weights.js';
import { createWhisperTranscriber } from './encode/whisper-transcriber.js';
import type { Engines } from './engines.js';
import { AuscultError } from './errors.js';
import { createChatGenerator } from './generate/chat-generator.js';
import { createExtractiveGenerator } from './generate/extractive-generator.js';
import type { Generator } from './generate/generator.js';
import { createLlamaChatModel } from './generate/llama-generator.js';
import { resolveModelPath } from './commands/model-catalogue.js';
import { createOpenAiChatModel } from './generate/openai-generator.js';
import { createEntityGrounder } from './ground/entity-grounder.js';
import { loadTermList, shippedTermsFolder } from './ground/term-list.js';
import { corpusTerms } from './ground/term-mining.js';
import { createSafetyCheck } from './ground/safety.js';
import { seedCorpus } from './ingest/seed-corpus.js';
import { createHeuristicJudge } from './refine/heuristic-judge.js';
import { createRubricJudge } from './refine/rubric-judge.js';
import type { Judge } from './refine/judge.js';
import { createCorpusIndex, type CorpusIndex } from './retrieve/corpus-index.js';
import { createVectorRetriever } from './retrieve/vector-retriever.js';
import { createJsonlSink } from './trace/jsonl-sink.js';
import { makeManifest, writeManifest, type RunManifest } from './trace/manifest.js';

export interface Encoders {
  readonly weights: Weights;
  readonly speechEncoder: SpeechEncoder;
  readonly textEncoder: TextEncoder;
  close(): Promise<void>;
}

/** The two encoders, their files checked against the manifest. */
export async function composeEncoders(config: Config): Promise<Encoders> {
  const weights = openWeights(config.models);
  await weights.verify();
  const threads = config.encoderThreads;
  const speechEncoder = await createOnnxSpeechEncoder({ weights, threads, maxBatch: config.encoderBatch });
  const textEncoder = createCachedTextEncoder({ encoder: await createOnnxTextEncoder({ weights, threads }) });
  return {
    weights,
    speechEncoder,
    textEncoder,
    async close() {
      await Promise.all([speechEncoder.close(), textEncoder.close()]);
    },
  };
}

/** The stores under the data folder, for these encoders. */
export async function composeIndex(
  config: Config,
  encoders: Encoders,
  options: { readonly mustExist?: boolean; readonly onProgress?: (progress: IndexProgress) => void } = {},
): Promise<CorpusIndex> {
  return createCorpusIndex({
    dataDir: config.data,
    dimensions: encoders.textEncoder.dimensions,
    textModelId: encoders.textEncoder.modelId,
    speechModelId: encoders.speechEncoder.modelId,
    ...options,
  });
}

export interface House {
  readonly engines: Engines;
  readonly index: CorpusIndex;
  /** Learns the names in the passages, all of them; again after an ingest, names it knows are left as they are. */
  learnTerms(): void;
  readonly manifest: RunManifest;
  close(): Promise<void>;
}

/** Config → everything that a session needs. Loads all that it loads here; only a transcriber waits for its first use. */
export async function compose(
  config: Config,
  clock: Clock,
  onProgress: (progress: IndexProgress) => void,
): Promise<House> {
  const encoders = await composeEncoders(config);
  const { weights, speechEncoder, textEncoder } = encoders;
  const index = await composeIndex(config, encoders, { onProgress });
  // The demo corpus, on the first start; before the manifest, which says what was searched.
  if (config.corpus !== '') await seedCorpus(config.corpus, { index, engines: { textEncoder } }, onProgress);
  // A window takes a fraction of a millisecond: a thread of its own would cost more than it saves.
  const detectorModel = await createOnnxSession({ path: weights.pathOf('silero_vad.onnx') });
  const terms = await loadTermList(shippedTermsFolder());
  const grounder = createEntityGrounder({ terms, textEncoder });
  const { generator, judge } = await composeGenerator(config, textEncoder, clock);
  const manifest = makeManifest({
    wallMs: clock.wallMs(),
    root: packageRoot(),
    models: weights.files.map(({ name, sha256 }) => ({ name, sha256 })),
    index: { ...index.stats() },
    config: printableConfig(config),
  });
  const traces = join(config.data, 'traces');
  await writeManifest(traces, manifest);
  const traceSink = await createJsonlSink(traces);
  const transcriber = lazyTranscriber(weights);
  const engines: Engines = {
    clock,
    createVoiceDetector: () => createSileroDetector({ model: detectorModel }),
    speechEncoder,
    textEncoder,
    transcriber: transcriber?.get ?? null,
    passages: index.passages,
    retriever: await createVectorRetriever({ ...index, clock }),
    grounder,
    safety: await createSafetyCheck({ textEncoder }),
    generator,
    judge,
    traceSink,
    runId: manifest.runId,
  };
  return {
    engines,
    index,
    learnTerms: () => grounder.addTerms(corpusTerms(index.texts(), terms)),
    manifest,
    async close() {
      await traceSink.close();
      await Promise.all([generator.close(), transcriber?.close(), detectorModel.close(), encoders.close()]);
      index.close();
    },
  };
}

/** Loads on first use and once; null when no decoder is among the weights. */
function lazyTranscriber(
  weights: Weights,
): { get: () => Promise<Transcriber>; close: () => Promise<void> } | null {
  if (!weights.find('words-decoder.onnx')) return null;
  let loading: Promise<Transcriber> | null = null;
  return {
    get: () => (loading ??= createWhisperTranscriber({ weights })),
    close: async () => (await loading)?.close(),
  };
}

/** The generator of the configuration, with the judge that fits it: rules for quotations, a rubric for language models. */
async function composeGenerator(config: Config, textEncoder: TextEncoder, clock: Clock): Promise<Answering> {
  switch (config.generator) {
    case 'extractive':
      return {
        generator: createExtractiveGenerator({ textEncoder }),
        judge: createHeuristicJudge({ textEncoder }),
      };
    case 'llama': {
      const model = await createLlamaChatModel({
        modelPath: resolveModelPath(config.data, config.llamaModel),
      });
      return { generator: createChatGenerator(model), judge: createRubricJudge({ model }) };
    }
    case 'openai': {
      const { openaiBaseUrl: baseUrl, openaiModel: name, openaiApiKey: apiKey } = config;
      if (baseUrl === '' || name === '') {
        throw new AuscultError('config_invalid', {
          message: 'Generator openai needs openaiBaseUrl (with its version path) and openaiModel.',
        });
      }
      const model = createOpenAiChatModel({
        baseUrl,
        model: name,
        clock,
        ...(apiKey === '' ? {} : { apiKey }),
      });
      return { generator: createChatGenerator(model), judge: createRubricJudge({ model }) };
    }
  }
}

interface Answering {
  readonly generator: Generator;
  readonly judge: Judge;
}
