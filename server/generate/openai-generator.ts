import type { Clock } from '../clock.js';
import { AuscultError, isAbort } from '../errors.js';
import { abortedError, untilAborted } from './abort.js';
import { createChatGenerator } from './chat-generator.js';
import type { ChatModel, ChatRequest } from './chat-model.js';
import { estimateTokens } from './extractive-generator.js';
import type { Generator } from './generator.js';
import { readDelta, refusal } from './openai-protocol.js';
import { readEvents } from './sse.js';

export interface OpenAiOptions {
  /** Up to and with the version, for example `http://127.0.0.1:8080/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /** Sent as a bearer token; never part of a message or a log line. */
  readonly apiKey?: string;
  readonly clock: Clock;
  /** Wait for the response and between two pieces of it, at most, milliseconds. Default 30,000. */
  readonly timeoutMs?: number;
  /** Further attempts after 429, 5xx or a broken connection, before anything was received; 0 tries once. Default 3. */
  readonly retries?: number;
  /** First wait before a retry, doubled each time and jittered, milliseconds. Default 400. */
  readonly backoffMs?: number;
  /** Uniform in 0 … 1, for the jitter. */
  readonly random?: () => number;
  /** Tokenizer of the model behind the endpoint; by default an estimate from above. */
  readonly countTokens?: (text: string) => number;
}

/** Longest wait that an endpoint can ask for with Retry-After, milliseconds. */
const LONGEST_WAIT_MS = 20_000;

/** Any OpenAI-compatible endpoint (vLLM, Ollama, llama.cpp, a cloud). See `createOpenAiChatModel`. */
export function createOpenAiGenerator(options: OpenAiOptions): Generator {
  return createChatGenerator(createOpenAiChatModel(options));
}

/**
 * `POST {baseUrl}/chat/completions` with streaming. Temperature 0. A failure after the first piece is not retried: what was
 * shown cannot be taken back.
 * @throws AuscultError `config_invalid` for a base URL that is none
 */
export function createOpenAiChatModel(options: OpenAiOptions): ChatModel {
  const url = endpointOf(options.baseUrl);
  return {
    id: `openai:${options.model}`,
    countTokens: options.countTokens ?? estimateTokens,
    async *stream(request, signal) {
      const attempt = new AbortController();
      const stop = (): void => attempt.abort(abortedError(signal.reason));
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop, { once: true });
      try {
        const response = await connect({ url, request, options, signal: attempt.signal });
        yield* readAnswer(response, options, attempt);
      } catch (thrown) {
        if (signal.aborted) throw abortedError(signal.reason);
        throw asFailure(attempt.signal.aborted ? attempt.signal.reason : thrown);
      } finally {
        signal.removeEventListener('abort', stop);
        // Ends a response that nobody reads any more.
        attempt.abort();
      }
    },
    async close() {},
  };
}

interface Call {
  readonly url: URL;
  readonly request: ChatRequest;
  readonly options: OpenAiOptions;
  readonly signal: AbortSignal;
}

/** A response with status 200, after retries. */
async function connect(call: Call): Promise<Response> {
  const retries = call.options.retries ?? 3;
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await post(call).catch((thrown: unknown) => {
      if (call.signal.aborted) throw thrown;
      return asFailure(thrown);
    });
    if (outcome instanceof Response && outcome.ok) return outcome;
    const failure = outcome instanceof Response ? await refusal(outcome) : outcome;
    if (!failure.retryable || attempt >= retries) throw failure;
    const asked = outcome instanceof Response ? retryAfterMs(outcome, call.options.clock) : null;
    await wait(asked ?? backoff(attempt, call.options), call);
  }
}

async function post({ url, request, options, signal }: Call): Promise<Response> {
  const timeout = new AbortController();
  const cancel = options.clock.after(options.timeoutMs ?? 30_000, () => timeout.abort(tooSlow(options)));
  try {
    return await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        ...(options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` }),
      },
      body: JSON.stringify({
        model: options.model,
        messages: request.messages,
        max_tokens: request.maxTokens,
        temperature: 0,
        stream: true,
      }),
      signal: AbortSignal.any([signal, timeout.signal]),
    });
  } catch (thrown) {
    throw timeout.signal.aborted ? timeout.signal.reason : thrown;
  } finally {
    cancel();
  }
}

async function* readAnswer(
  response: Response,
  options: OpenAiOptions,
  attempt: AbortController,
): AsyncGenerator<string> {
  if (response.body === null) throw cutOff();
  const arm = (): (() => void) =>
    options.clock.after(options.timeoutMs ?? 30_000, () => attempt.abort(tooSlow(options)));
  const events = readEvents(piecesOf(response.body));
  let finished = false;
  for (;;) {
    const disarm = arm();
    const next = await untilAborted(events.next(), attempt.signal).finally(disarm);
    if (next.done === true || next.value === '[DONE]') break;
    const delta = readDelta(next.value);
    finished ||= delta.finished;
    if (delta.text !== '') yield delta.text;
  }
  if (!finished) throw cutOff();
}

async function* piecesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

function backoff(attempt: number, { backoffMs = 400, random = Math.random }: OpenAiOptions): number {
  return backoffMs * 2 ** attempt * (0.5 + random() / 2);
}

/** Milliseconds that a response asks to wait, in seconds or as a date; null when it does not say. */
function retryAfterMs(response: Response, clock: Clock): number | null {
  const value = response.headers.get('retry-after');
  if (value === null) return null;
  const ms = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - clock.wallMs();
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), LONGEST_WAIT_MS) : null;
}

function wait(delayMs: number, { options, signal }: Call): Promise<void> {
  let cancel: () => void = () => undefined;
  const timer = new Promise<void>((resolve) => (cancel = options.clock.after(delayMs, resolve)));
  return untilAborted(timer, signal).finally(() => cancel());
}

function endpointOf(baseUrl: string): URL {
  try {
    const url = new URL(`${baseUrl.replace(/\/+$/, '')}/chat/completions`);
    if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  } catch {
    // Said below.
  }
  throw new AuscultError('config_invalid', {
    message:
      'The base URL of the generator must begin with http:// or https://, for example http://127.0.0.1:8080/v1.',
  });
}

function tooSlow({ timeoutMs = 30_000 }: OpenAiOptions): AuscultError {
  return new AuscultError('generator_failed', {
    message: `The endpoint said nothing for ${String(timeoutMs)} ms; it may be overloaded or its model may be loading.`,
    retryable: true,
  });
}

function cutOff(): AuscultError {
  return new AuscultError('generator_failed', {
    message: 'The endpoint ended its answer before it was complete.',
    retryable: true,
  });
}

function asFailure(thrown: unknown): AuscultError {
  if (thrown instanceof AuscultError && !isAbort(thrown)) return thrown;
  return new AuscultError('generator_failed', {
    message:
      'The endpoint cannot be reached or broke the connection; is it running at the configured base URL?',
    cause: thrown,
    retryable: true,
  });
}
