import type { EvidenceItem } from '../../shared/evidence.js';
import { splitSentences } from '../../shared/sentences.js';
import type { TextEncoder } from '../encode/text-encoder.js';
import { SNIPPET_CHARACTERS } from './snippet.js';

/** Evidence id → cosine similarity to the question of each sentence of its text, in order. */
export type Salience = ReadonlyMap<string, readonly number[]>;

export interface SalienceInput {
  readonly evidence: readonly EvidenceItem[];
  /** Unit vector of the question, sound or text. */
  readonly questionVector: Float32Array;
  readonly textEncoder: TextEncoder;
  /** Sentences read of one passage; later ones score −1. Bounds the encoding of a long passage. Default 12. */
  readonly sentencesPerPassage?: number;
}

/**
 * Scores the sentences of every passage that may become visible, so that its snippet holds the one nearest to the question.
 * Passages short enough to be shown whole are not encoded. Rejects with `aborted`.
 */
export async function scoreSentences(input: SalienceInput, signal?: AbortSignal): Promise<Salience> {
  const perPassage = input.sentencesPerPassage ?? 12;
  const owners: { id: string; text: string }[] = [];
  for (const item of input.evidence) {
    if (item.text.trim().length <= SNIPPET_CHARACTERS) continue;
    const sentences = splitSentences(item.text).slice(0, perPassage);
    if (sentences.length > 1) owners.push(...sentences.map(({ text }) => ({ id: item.id, text })));
  }
  const salience = new Map<string, number[]>();
  if (owners.length === 0) return salience;
  const vectors = await input.textEncoder.encode(
    owners.map(({ text }) => text),
    'passage',
    signal,
  );
  owners.forEach(({ id }, index) => {
    const scores = salience.get(id) ?? [];
    scores.push(dot(vectors[index], input.questionVector));
    salience.set(id, scores);
  });
  return salience;
}

function dot(a: Float32Array | undefined, b: Float32Array): number {
  let sum = 0;
  if (a !== undefined)
    for (let index = 0; index < b.length; index += 1) sum += (a[index] ?? 0) * (b[index] ?? 0);
  return sum;
}
