import {
  answerBody,
  ANSWER_PREFIX,
  evidenceLine,
  INSUFFICIENT_EVIDENCE,
  OPTION_PREFIX,
} from '../../shared/answer-forms.js';
import { AuscultError } from '../../server/errors.js';
import type { AnswerChunk, Generator } from '../../server/generate/generator.js';
import type { Prompt } from '../../server/prompt/prompt.js';

export interface FakeGenerator extends Generator {
  /** Prompts it was given, in order. */
  readonly calls: readonly Prompt[];
  /** Generations running now; more than one at a time is a fault of the caller. */
  readonly running: number;
}

export interface FakeGeneratorOptions {
  /** What it says to the n-th prompt; by default the first visible snippet, in the contract's form. */
  readonly script?: (prompt: Prompt, call: number) => readonly AnswerChunk[];
  /** Waits for this before each chunk; a test holds a generation open with it. */
  readonly pace?: () => Promise<void>;
}

/** A generator that says what the test wrote, in the contract's form, and obeys its signal. */
export function createFakeGenerator(options: FakeGeneratorOptions = {}): FakeGenerator {
  const calls: Prompt[] = [];
  let running = 0;
  return {
    id: 'fake',
    get calls() {
      return calls;
    },
    get running() {
      return running;
    },
    countTokens: (text) => text.split(/\s+/).filter(Boolean).length,
    async *generate(prompt, signal) {
      calls.push(prompt);
      running += 1;
      try {
        for (const chunk of (options.script ?? firstSnippet)(prompt, calls.length)) {
          await unlessAborted(options.pace?.() ?? Promise.resolve(), signal);
          yield chunk;
        }
      } finally {
        running -= 1;
      }
    },
    async close() {},
  };
}

/** The first visible snippet quoted; choice A; yes. Without evidence, the abstention. */
export function firstSnippet(prompt: Prompt): AnswerChunk[] {
  const [first] = prompt.visible;
  if (first === undefined) return [{ text: INSUFFICIENT_EVIDENCE, evidenceIds: [], abstained: true }];
  if (prompt.contract === 'exam') return [{ text: `${OPTION_PREFIX}A`, evidenceIds: [first.id] }];
  if (prompt.contract === 'yes_no_maybe') return [{ text: `${ANSWER_PREFIX}yes`, evidenceIds: [first.id] }];
  return [
    { text: ANSWER_PREFIX, evidenceIds: [] },
    { text: first.snippet, evidenceIds: [first.id], quote: first.snippet },
    { text: evidenceLine(['E1']), evidenceIds: [] },
  ];
}

/** What a person would read of chunks of an open answer. */
export function readText(chunks: readonly AnswerChunk[]): string {
  return answerBody('open', chunks.map(({ text }) => text).join('')).text;
}

function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new AuscultError('aborted', { message: 'The answer was cancelled.' }));
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
