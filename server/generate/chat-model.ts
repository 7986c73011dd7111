export interface ChatMessage {
  readonly role: 'system' | 'user';
  readonly content: string;
}

export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  /** Longest answer, tokens. */
  readonly maxTokens: number;
  /** GBNF that the answer must match; an engine that cannot constrain its output ignores it. */
  readonly grammar?: string;
}

/**
 * A language model behind a generator or a judge. Greedy: the same request gives the same text.
 * Contract: the pieces joined are the answer; an aborted signal ends the stream with `aborted` within 100 ms, whatever the
 * engine does; other failures are `generator_failed` with `retryable` set; messages are never logged.
 */
export interface ChatModel {
  readonly id: string;
  countTokens(text: string): number;
  stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<string>;
  close(): Promise<void>;
}
