import { stat } from 'node:fs/promises';
import type { LlamaChat, LlamaModel, Llama } from 'node-llama-cpp';
import { AuscultError, isAbort } from '../errors.js';
import { abortedError } from './abort.js';
import { createChatGenerator } from './chat-generator.js';
import type { ChatModel, ChatRequest } from './chat-model.js';
import type { Generator } from './generator.js';
import { createTextChannel } from './text-channel.js';

export interface LlamaOptions {
  /** GGUF file; `auscult models get` fetches two. */
  readonly modelPath: string;
  /** Threads of the engine; 0 leaves it to llama.cpp. Default 0. */
  readonly threads?: number;
  /** Tokens of prompt and answer together. Default 1,536: a full prompt, the template and the longest answer. */
  readonly contextTokens?: number;
}

/** A local GGUF model through llama.cpp. See `createLlamaChatModel`. */
export async function createLlamaGenerator(options: LlamaOptions): Promise<Generator> {
  return createChatGenerator(await createLlamaChatModel(options));
}

/**
 * Loads a GGUF with node-llama-cpp, an optional dependency. Greedy, constrained by the request's grammar. One sequence, one
 * answer at a time: what two requests have in common at their beginning (the system message) is computed once and kept.
 * @throws AuscultError `model_missing` without the file or the dependency, `model_corrupt` when it cannot be loaded.
 */
export async function createLlamaChatModel(options: LlamaOptions): Promise<ChatModel> {
  await stat(options.modelPath).catch((cause: unknown) => {
    throw new AuscultError('model_missing', {
      message: `There is no model at ${options.modelPath}. Fetch one with \`auscult models get smollm2-135m\`.`,
      cause,
    });
  });
  const engine = await loadEngine(options);
  let last: Promise<unknown> = Promise.resolve();
  return {
    id: `llama:${options.modelPath.split(/[\\/]/).at(-1) ?? ''}`,
    countTokens: (text) => (text === '' ? 0 : engine.model.tokenize(text).length),
    stream(request, signal) {
      const channel = createTextChannel(signal);
      // An aborted answer may still be inside a batch; the next one waits for it, its reader does not.
      last = last.then(() => answer(engine, request, { channel, signal }));
      return channel.read();
    },
    async close() {
      await last;
      await engine.model.dispose();
      await engine.llama.dispose();
    },
  };
}

interface Engine {
  readonly llama: Llama;
  readonly model: LlamaModel;
  readonly chat: LlamaChat;
}

async function loadEngine({ modelPath, threads = 0, contextTokens = 1_536 }: LlamaOptions): Promise<Engine> {
  const library = await import('node-llama-cpp').catch((cause: unknown) => {
    throw new AuscultError('model_missing', {
      message:
        'The generator `llama` needs the optional package node-llama-cpp: npm install node-llama-cpp@3.21.1',
      cause,
    });
  });
  try {
    const llama = await library.getLlama({
      gpu: 'auto',
      build: 'never',
      logLevel: library.LlamaLogLevel.error,
    });
    const model = await llama.loadModel({ modelPath });
    const context = await model.createContext({
      contextSize: Math.min(contextTokens, model.trainContextSize ?? contextTokens),
      // Small batches: the signal is looked at between them.
      batchSize: 64,
      threads,
    });
    return { llama, model, chat: new library.LlamaChat({ contextSequence: context.getSequence() }) };
  } catch (cause) {
    throw new AuscultError('model_corrupt', {
      message: `The model at ${modelPath} cannot be loaded; fetch it again with \`auscult models get\`.`,
      cause,
    });
  }
}

/** Runs one request; never rejects: its end, good or bad, goes into the channel. */
async function answer(
  { llama, chat }: Engine,
  request: ChatRequest,
  {
    channel,
    signal,
  }: { readonly channel: ReturnType<typeof createTextChannel>; readonly signal: AbortSignal },
): Promise<void> {
  try {
    if (signal.aborted) throw abortedError(signal.reason);
    const grammar =
      request.grammar === undefined
        ? {}
        : { grammar: await llama.createGrammar({ grammar: request.grammar }) };
    await chat.generateResponse(historyOf(request), {
      signal,
      maxTokens: request.maxTokens,
      temperature: 0,
      onTextChunk: (text) => channel.push(text),
      ...grammar,
    });
    channel.end();
  } catch (cause) {
    channel.fail(signal.aborted || isAbort(cause) ? abortedError(cause) : failed(cause));
  }
}

function historyOf({ messages }: ChatRequest) {
  return [
    ...messages.map(({ role, content }) =>
      role === 'system'
        ? { type: 'system' as const, text: content }
        : { type: 'user' as const, text: content },
    ),
    { type: 'model' as const, response: [] },
  ];
}

function failed(cause: unknown): AuscultError {
  return new AuscultError('generator_failed', {
    message:
      'The local model could not answer; see the cause. A shorter prompt or a larger context may help.',
    cause,
    retryable: true,
  });
}
