import { createHash } from 'node:crypto';
import { appendFile, mkdir, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { TextEncoder } from '../server/encode/text-encoder.js';
import { createBm25KeywordStore } from '../server/retrieve/bm25-keyword-store.js';
import { createExactStore } from '../server/retrieve/exact-store.js';
import type { KeywordStore } from '../server/retrieve/keyword-store.js';
import type { Passage, PassageStore } from '../server/retrieve/passage-store.js';
import type { Retriever } from '../server/retrieve/retriever.js';
import { createVectorRetriever } from '../server/retrieve/vector-retriever.js';
import { createSystemClock } from '../server/clock.js';
import type { SearchedPassage } from './recall-sets.js';

/** Passages encoded between two writes: what a stopped run loses. */
const STEP = 128;

/** A corpus that is searched exactly, three ways: by vector, by keyword, and fused as the server does. */
export interface SearchedCorpus {
  readonly size: number;
  /** Best documents for the maximum over windows and passages, best first. */
  byVectors(windows: readonly Float32Array[], k: number): string[];
  byKeywords(text: string, k: number): string[];
  readonly retriever: Retriever;
}

/** Encodes the passages, or reads what an earlier run encoded with the same model, and makes them searchable. */
export async function openCorpus(
  passages: readonly SearchedPassage[],
  encoder: TextEncoder,
  cache: string,
): Promise<SearchedCorpus> {
  const { dimensions } = encoder;
  const matrix = await embedded(passages, encoder, cache);
  const vectorOf = (key: number): Float32Array => matrix.subarray(key * dimensions, (key + 1) * dimensions);
  const keywords = await createBm25KeywordStore(passages.map(({ text }, key) => ({ key, text })));
  return {
    size: passages.length,
    byVectors: (windows, k) => rankDocuments(passages, scoresOf(matrix, windows, dimensions), k),
    byKeywords: (text, k) => rankByKeywords(passages, keywords, text, k),
    retriever: await openRetriever(passages, vectorOf, keywords, dimensions),
  };
}

/** Unit vectors of all passages, one after the other. */
async function embedded(
  passages: readonly SearchedPassage[],
  encoder: TextEncoder,
  cache: string,
): Promise<Float32Array> {
  const hash = createHash('sha256').update(encoder.modelId);
  for (const { text } of passages) hash.update('\n').update(text);
  const path = join(cache, `passages-${hash.digest('hex').slice(0, 24)}.f32`);
  await mkdir(cache, { recursive: true });
  const rowBytes = encoder.dimensions * 4;
  const bytes = await readFile(path).catch(() => Buffer.alloc(0));
  const matrix = new Float32Array(passages.length * encoder.dimensions);
  let done = Math.floor(bytes.byteLength / rowBytes);
  matrix.set(new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + done * rowBytes)));
  // A run that was stopped in the middle of a write leaves part of a row.
  if (bytes.byteLength % rowBytes !== 0) await truncate(path, done * rowBytes);
  while (done < passages.length) {
    const texts = passages.slice(done, done + STEP).map(({ text }) => text);
    const vectors = await encoder.encode(texts, 'passage');
    vectors.forEach((vector, at) => matrix.set(vector, (done + at) * encoder.dimensions));
    await appendFile(path, Buffer.concat(vectors.map((vector) => Buffer.from(vector.slice().buffer))));
    done += vectors.length;
    process.stderr.write(
      `\rencoding passages ${done} / ${passages.length}${done < passages.length ? '' : '\n'}`,
    );
  }
  return matrix;
}

/** Highest cosine of each passage over the windows. */
function scoresOf(matrix: Float32Array, windows: readonly Float32Array[], dimensions: number): Float32Array {
  const scores = new Float32Array(matrix.length / dimensions).fill(-1);
  for (const window of windows) {
    for (let row = 0, offset = 0; row < scores.length; row += 1, offset += dimensions) {
      let sum = 0;
      for (let at = 0; at < dimensions; at += 1) sum += (matrix[offset + at] ?? 0) * (window[at] ?? 0);
      if (sum > (scores[row] ?? 0)) scores[row] = sum;
    }
  }
  return scores;
}

/** Documents by their best passage; ties by the order of the corpus. */
export function rankDocuments(
  passages: readonly SearchedPassage[],
  scores: ArrayLike<number>,
  k: number,
): string[] {
  const best = new Map<string, number>();
  passages.forEach(({ documentId }, row) => {
    const score = scores[row] ?? -1;
    if (score > (best.get(documentId) ?? -Infinity)) best.set(documentId, score);
  });
  return [...best.entries()]
    .sort((a, b) => b[1] - a[1])
    .slice(0, k)
    .map(([documentId]) => documentId);
}

function rankByKeywords(
  passages: readonly SearchedPassage[],
  keywords: KeywordStore,
  text: string,
  k: number,
): string[] {
  const found = keywords.search(text, passages.length).map(({ key }) => passages[key]?.documentId ?? '');
  return [...new Set(found)].slice(0, k);
}

async function openRetriever(
  passages: readonly SearchedPassage[],
  vectorOf: (key: number) => Float32Array,
  keywords: KeywordStore,
  dimensions: number,
): Promise<Retriever> {
  const passageVectors = createExactStore({ dimensions });
  passageVectors.write({ add: passages.map((_, key) => ({ key, vector: vectorOf(key) })) });
  return createVectorRetriever({
    clock: createSystemClock(),
    passages: passagesInMemory(passages),
    passageVectors,
    // Store A is empty: no spoken question can be found by itself.
    speechVectors: createExactStore({ dimensions }),
    keywords,
    vectorOf,
  });
}

function passagesInMemory(passages: readonly SearchedPassage[]): PassageStore {
  const toPassage = ({ documentId, text }: SearchedPassage, key: number): Passage => ({
    id: `${documentId}#${key}`,
    key,
    store: 'passages',
    documentId,
    title: documentId,
    text,
    start: 0,
    end: text.length,
    source: 'bench',
  });
  return {
    size: passages.length,
    byKeys: (store, keys) =>
      keys.flatMap((key) => {
        const passage = passages[key];
        return store === 'passages' && passage ? [toPassage(passage, key)] : [];
      }),
    byId: () => null,
    close: () => undefined,
  };
}
