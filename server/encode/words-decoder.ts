import type { OnnxSession, PlainTensor } from './onnx-session.js';
import { floatOutput, keptOutput } from './onnx-session.js';
import type { KeptTensor } from './onnx-session.js';
import { AuscultError } from '../errors.js';
import { loopStart } from './words-repetition.js';
import type { WordsTokenizer } from './words-tokenizer.js';

/** Shapes of Whisper-base's decoder: layers, heads, numbers a head, numbers a frame. */
const LAYERS = 6;
const HEADS = 8;
const HEAD_WIDTH = 64;
const FEATURE_WIDTH = 512;
const FRAMES_PER_SECOND = 50;
/** Tokens that a window of no length may have, and more for each second: English stays below five a second. */
const BASE_TOKENS = 8;
const TOKENS_PER_SECOND = 8;

const PARTS = [
  ...Array.from({ length: LAYERS }, (_, layer) => [`k_${layer}`, `v_${layer}`]).flat(),
  'bias',
] as const;

/** What greedy decoding made of one window. */
export interface DecodedWindow {
  readonly ids: readonly number[];
  /** Probability of each token among those allowed, 0 … 1. */
  readonly confidences: readonly number[];
  /** Probability, at the start token, that there is no speech, 0 … 1. */
  readonly noSpeech: number;
}

export interface WindowFeatures {
  /** Row-major [frames, 512]. */
  readonly features: Float32Array;
  readonly frames: number;
}

/** Greedy decoding over one loaded decoder; windows of several callers may interleave token by token. */
export class WordsDecoder {
  readonly #session: OnnxSession;
  readonly #tokenizer: WordsTokenizer;
  readonly #forbidden: Uint8Array;
  #calls = 0;

  constructor(session: OnnxSession, tokenizer: WordsTokenizer) {
    this.#session = session;
    this.#tokenizer = tokenizer;
    this.#forbidden = new Uint8Array(tokenizer.endOfText + 1);
    for (const id of tokenizer.suppress) this.#forbidden[id] = 1;
  }

  /** Decodes one window. Errors: `aborted` before the next token, `unsupported_audio` for features of a wrong size. */
  async decode(window: WindowFeatures, signal?: AbortSignal): Promise<DecodedWindow> {
    if (window.frames < 1 || window.features.length !== window.frames * FEATURE_WIDTH) {
      throw new AuscultError('unsupported_audio', {
        message: `A window needs ${FEATURE_WIDTH} numbers a frame and at least one frame; it has ${window.features.length} numbers for ${window.frames} frames.`,
      });
    }
    throwIfAborted(signal);
    // Each window is a stream of its own: the model takes turns between them.
    const stream = `words-${++this.#calls}`;
    const held = new Set<number>();
    try {
      return await this.#greedy(window, { stream, held, signal });
    } finally {
      this.#session.forget([...held]);
    }
  }

  async #greedy(window: WindowFeatures, turn: Turn): Promise<DecodedWindow> {
    const heard = await this.#hear(window, turn);
    const ids: number[] = [];
    const confidences: number[] = [];
    let past: KeptTensor | PlainTensor = EMPTY_PAST;
    let noSpeech = 0;
    for (const limit = tokenLimit(window.frames); ids.length < limit;) {
      throwIfAborted(turn.signal);
      const asked = ids.length === 0 ? this.#tokenizer.prompt : ids.slice(-1);
      const { logits, present } = await this.#step({ heard, past, asked }, turn);
      past = present;
      if (ids.length === 0) noSpeech = probability(logits, this.#tokenizer.noSpeech);
      const size = logits.length / asked.length;
      const next = this.#choose(logits.subarray(logits.length - size), ids.length === 0);
      if (next.id === this.#tokenizer.endOfText) break;
      ids.push(next.id);
      confidences.push(next.confidence);
      const cut = loopStart(ids);
      if (cut !== null) return { ids: ids.slice(0, cut), confidences: confidences.slice(0, cut), noSpeech };
    }
    throwIfAborted(turn.signal);
    return { ids, confidences, noSpeech };
  }

  /** Keys and values of the window for every layer; they stay beside the model. */
  async #hear(window: WindowFeatures, turn: Turn): Promise<Record<string, KeptTensor>> {
    const names = PARTS.map((part) => `heard_${part}`);
    const feeds = {
      features: tensor(window.features, [1, window.frames, FEATURE_WIDTH]),
      tokens: tokens([]),
    };
    const outputs = await this.#session.run(
      { ...feeds, past: EMPTY_PAST, ...NOTHING_HEARD },
      { stream: turn.stream, outputs: names, keep: names },
    );
    const heard: Record<string, KeptTensor> = {};
    for (const part of PARTS) {
      const kept = keptOutput(outputs, `heard_${part}`);
      heard[`cross_${part}`] = kept;
      turn.held.add(kept.kept);
    }
    return heard;
  }

  async #step(state: StepState, turn: Turn): Promise<{ logits: Float32Array; present: KeptTensor }> {
    // No signal goes along: a run that is aborted midway would leave its kept cache behind.
    const outputs = await this.#session.run(
      { features: NO_FEATURES, tokens: tokens(state.asked), past: state.past, ...state.heard },
      {
        stream: turn.stream,
        outputs: ['logits', 'present'],
        keep: ['present'],
        release: 'kept' in state.past ? [state.past.kept] : [],
      },
    );
    const present = keptOutput(outputs, 'present');
    if ('kept' in state.past) turn.held.delete(state.past.kept);
    turn.held.add(present.kept);
    return { logits: floatOutput(outputs, 'logits').data, present };
  }

  /** The likeliest allowed token and its probability among the allowed. */
  #choose(logits: Float32Array, first: boolean): { id: number; confidence: number } {
    const { endOfText, suppressAtBegin } = this.#tokenizer;
    let id = endOfText;
    let highest = -Infinity;
    const allowed = (at: number): boolean =>
      this.#forbidden[at] === 0 && !(first && suppressAtBegin.includes(at));
    for (let at = 0; at <= endOfText; at++) {
      const value = logits[at] ?? -Infinity;
      if (value > highest && allowed(at)) {
        highest = value;
        id = at;
      }
    }
    let total = 0;
    for (let at = 0; at <= endOfText; at++) {
      if (this.#forbidden[at] === 0) total += Math.exp((logits[at] ?? -Infinity) - highest);
    }
    return { id, confidence: Math.min(1, 1 / total) };
  }
}

interface Turn {
  readonly stream: string;
  /** Handles kept beside the model for this window. */
  readonly held: Set<number>;
  readonly signal: AbortSignal | undefined;
}

interface StepState {
  readonly heard: Record<string, KeptTensor>;
  readonly past: KeptTensor | PlainTensor;
  readonly asked: readonly number[];
}

const NO_FEATURES = tensor(new Float32Array(0), [1, 0, FEATURE_WIDTH]);
const EMPTY_PAST = tensor(new Float32Array(0), [2 * LAYERS, HEADS, 0, HEAD_WIDTH]);
/** One place of zeros: the graph must be given something to listen to while it hears. */
const NOTHING_HEARD = Object.fromEntries(PARTS.map((part) => [`cross_${part}`, nothing(part)]));

function nothing(part: string): PlainTensor {
  if (part === 'bias') return tensor(new Float32Array(1), [1]);
  const dims = part.startsWith('k') ? [1, HEADS, HEAD_WIDTH, 1] : [1, HEADS, 1, HEAD_WIDTH];
  return tensor(new Float32Array(HEADS * HEAD_WIDTH), dims);
}

function tensor(data: Float32Array, dims: readonly number[]): PlainTensor {
  return { type: 'float32', data, dims };
}

function tokens(ids: readonly number[]): PlainTensor {
  return { type: 'int64', data: BigInt64Array.from(ids, BigInt), dims: [1, ids.length] };
}

function tokenLimit(frames: number): number {
  return BASE_TOKENS + Math.floor((frames / FRAMES_PER_SECOND) * TOKENS_PER_SECOND);
}

/** Softmax probability of one token in the first row of logits. */
function probability(logits: Float32Array, id: number): number {
  const row = logits.subarray(0, VOCABULARY);
  let highest = -Infinity;
  for (const value of row) highest = Math.max(highest, value);
  let total = 0;
  for (const value of row) total += Math.exp(value - highest);
  return Math.exp((row[id] ?? -Infinity) - highest) / total;
}

const VOCABULARY = 51_865;

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AuscultError('aborted', { message: 'The transcription was cancelled.' });
}
