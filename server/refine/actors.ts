import { fromPromise } from 'xstate';
import { AuscultError } from '../errors.js';
import type { Engines } from '../engines.js';
import { resolveCitations } from '../generate/citations.js';
import type { AnswerChunk } from '../generate/generator.js';
import type { Grounding } from '../ground/grounding.js';
import { selectEvidence } from '../prompt/budget.js';
import { CONTRACTS, describeParsed } from '../prompt/contracts.js';
import { buildPrompt } from '../prompt/prompt-builder.js';
import type { Prompt } from '../prompt/prompt.js';
import { scoreSentences } from '../prompt/salience.js';
import { unsafeReason } from './unsafe.js';
import type * as T from './turn-types.js';

/** What words heard with certainty count beside the sound. */
const WORDS_WEIGHT = 2;

const UNGROUNDED: Grounding = { mentions: [], corrections: [], proposals: [], contrasts: [], gap: null };

/** The effects of a turn, by the names that the machine gives them. Each stops when its signal aborts. */
export type TurnActors = ReturnType<typeof createTurnActors>['actors'];

/**
 * Engines → the machine's actors. `idle` resolves when no effect is running any more: an aborted one may need a moment, and
 * two generations must never overlap.
 */
export function createTurnActors(engines: Engines) {
  const running = new Set<Promise<unknown>>();
  const effect = <Input, Output>(work: (input: Input, signal: AbortSignal) => Promise<Output>) =>
    fromPromise<Output, Input>(({ input, signal }) => {
      const task = work(input, signal).finally(() => running.delete(task));
      running.add(task);
      return task;
    });
  return {
    actors: {
      encode: effect((input: T.EncodeInput, signal) => encode(engines, input, signal)),
      retrieve: effect((input: T.RetrieveInput, signal) => retrieve(engines, input, signal)),
      transcribe: effect((input: T.TranscribeInput, signal) => transcribe(engines, input, signal)),
      ground: effect((input: T.GroundInput, signal) => ground(engines, input, signal)),
      prompt: effect((input: T.PromptActorInput, signal) => prompt(engines, input, signal)),
      generate: effect((input: T.GenerateInput, signal) => generate(engines, input, signal)),
      judge: effect((input: T.JudgeInput, signal) => judge(engines, input, signal)),
    },
    idle: async (): Promise<void> => {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}

async function encode(
  engines: Engines,
  { question }: T.EncodeInput,
  signal: AbortSignal,
): Promise<T.Encoding> {
  const startedMs = engines.clock.nowMs();
  if (question.kind === 'text') {
    const vectors = await engines.textEncoder.encode([question.text], 'query', signal);
    const query = { source: 'user_text' as const, vectors, text: question.text };
    return { query, encoded: [], encodeMs: engines.clock.nowMs() - startedMs, speculative: false };
  }
  // A speculation that failed is no reason to fail the turn: it is encoded again.
  const early = question.encoded === null ? null : await question.encoded.catch(() => null);
  const encoded = early ?? (await engines.speechEncoder.encode(question.samples, signal));
  const query = { source: 'speech' as const, vectors: encoded.map((window) => window.vector) };
  return { query, encoded, encodeMs: engines.clock.nowMs() - startedMs, speculative: early !== null };
}

async function retrieve(
  engines: Engines,
  { queries, turn }: T.RetrieveInput,
  signal: AbortSignal,
): Promise<T.RetrieveOutput> {
  const complete: T.RoundQuery[] = [];
  for (const { query, consumes } of queries) {
    const vectors =
      query.vectors.length > 0
        ? query.vectors
        : await engines.textEncoder.encode([query.text ?? ''], 'query', signal);
    complete.push({ query: { ...query, vectors }, consumes });
  }
  const request = {
    queries: complete.map(({ query }) => query),
    settings: turn.retrieval,
    ...(turn.excludeIds ? { excludeIds: turn.excludeIds } : {}),
  };
  return { queries: complete, retrieval: await engines.retriever.retrieve(request, signal) };
}

/** Words from features that the ear has already computed; in mode `speech` this is never called, so nothing is loaded. */
async function transcribe(
  engines: Engines,
  { encoded }: T.TranscribeInput,
  signal: AbortSignal,
): Promise<T.TranscribeOutput> {
  if (!engines.transcriber)
    throw new AuscultError('model_missing', { message: 'No transcriber is configured.' });
  const startedMs = engines.clock.nowMs();
  const transcriber = await engines.transcriber();
  const transcript = await transcriber.transcribe(encoded, signal);
  const vectors =
    transcript.text === '' ? [] : await engines.textEncoder.encode([transcript.text], 'query', signal);
  // The surer the words, the more they count beside the sound, which counts 1.
  const weight = WORDS_WEIGHT * transcript.confidence;
  const query = { source: 'asr' as const, vectors, text: transcript.text, weight };
  return {
    transcript,
    query: transcript.text === '' ? null : { query, consumes: [] },
    transcribeMs: engines.clock.nowMs() - startedMs,
  };
}

async function ground(engines: Engines, input: T.GroundInput, signal: AbortSignal): Promise<T.GroundOutput> {
  const startedMs = engines.clock.nowMs();
  const { evidence, queryText, questionVector } = input;
  const grounding = input.enabled
    ? await engines.grounder.ground({ evidence, ...(queryText === null ? {} : { queryText }) }, signal)
    : UNGROUNDED;
  const notice = await engines.safety.check({ text: queryText, vector: questionVector }, signal);
  return { grounding, notice, groundMs: engines.clock.nowMs() - startedMs };
}

async function prompt(
  engines: Engines,
  input: T.PromptActorInput,
  signal: AbortSignal,
): Promise<T.PromptOutput> {
  const startedMs = engines.clock.nowMs();
  const { turn, queryText, questionVector, evidence, contrasts } = input;
  // Only what will be shown is read sentence by sentence.
  const shown = new Set(selectEvidence(evidence).visible.map(({ id }) => id));
  const salience = await scoreSentences(
    {
      evidence: evidence.filter(({ id }) => shown.has(id)),
      questionVector,
      textEncoder: engines.textEncoder,
    },
    signal,
  );
  const built = buildPrompt(
    {
      contract: turn.contract,
      question: queryText,
      choices: turn.choices,
      questionVector,
      evidence,
      contrasts,
    },
    { countTokens: (text) => engines.generator.countTokens(text), salience },
  );
  return { prompt: built, promptMs: engines.clock.nowMs() - startedMs };
}

/** Streams the answer; what would be unsafe to read is never streamed, and the answer is withheld with the reason. */
async function generate(
  engines: Engines,
  input: T.GenerateInput,
  signal: AbortSignal,
): Promise<T.GenerateOutput> {
  const startedMs = engines.clock.nowMs();
  const chunks: AnswerChunk[] = [];
  let text = '';
  let withheld: string | null = null;
  for await (const chunk of engines.generator.generate(input.prompt, signal)) {
    signal.throwIfAborted();
    chunks.push(chunk);
    text += chunk.text;
    withheld = unsafeReason(text);
    if (withheld !== null) break;
    input.onChunk(chunk);
  }
  return {
    answer: finish(text, chunks, input.prompt, withheld),
    generateMs: engines.clock.nowMs() - startedMs,
  };
}

function finish(
  text: string,
  chunks: readonly AnswerChunk[],
  built: Prompt,
  withheld: string | null,
): T.Answer {
  const { contract, visible, choices } = built;
  const parsed = describeParsed(CONTRACTS[contract].parse(text, choices.length));
  const { citations } = resolveCitations({ contract, chunks, visible });
  const abstained = parsed.abstained || chunks.some((chunk) => chunk.abstained === true);
  return { text, chunks, parsed: parsed.parsed, valid: parsed.valid, abstained, withheld, citations };
}

async function judge(engines: Engines, input: T.JudgeInput, signal: AbortSignal): Promise<T.JudgeOutput> {
  const startedMs = engines.clock.nowMs();
  const { answer } = input;
  const verdict =
    answer.withheld === null
      ? await engines.judge.judge(answer, input.prompt, signal)
      : { label: 'UNSAFE' as const, evidenceIds: [], reason: answer.withheld };
  const support = { ...verdict, evidenceIds: [...verdict.evidenceIds], judge: engines.judge.id };
  return { support, judgeMs: engines.clock.nowMs() - startedMs };
}
