import { createHash } from 'node:crypto';
import type { StoreName } from '../../shared/evidence.js';
import type { TextEncoder } from '../encode/text-encoder.js';
import { AuscultError } from '../errors.js';
import type { NewDocument, NewPassage, PassageIndex } from '../retrieve/passage-index.js';
import type { SourceDocument } from './documents.js';
import { problemError } from './input-files.js';
import type { Problem } from './input-files.js';
import { SEGMENTER_VERSION, segmentText } from './segment.js';

/** A document whose passages and vectors are made only when its content is new. */
export interface PendingDocument extends Omit<NewDocument, 'passages'> {
  /** The passages without vectors, and what is to be encoded for each, in order. */
  prepare(): Promise<readonly PendingPassage[]>;
}

export interface PendingPassage extends Omit<NewPassage, 'vectors'> {
  /** Text to encode, or windows of samples at 16 kHz. */
  readonly encode: string | readonly Float32Array[];
}

/** One list of unit vectors per passage, in order. */
export type Embed = (passages: readonly PendingPassage[], signal?: AbortSignal) => Promise<Float32Array[][]>;

export interface WriteProgress {
  readonly stage: string;
  readonly done: number;
  readonly total: number;
}

export interface WriteResult {
  readonly documents: number;
  /** Documents whose content was known. */
  readonly unchanged: number;
  /** Documents that took the place of an older one. */
  readonly replaced: number;
  readonly passages: number;
  readonly generation: number;
}

export interface WriteOptions {
  readonly writer: PassageIndex;
  readonly store: StoreName;
  readonly documents: readonly PendingDocument[];
  readonly embed: Embed;
  /** Passages encoded and stored in one step, 1 … 1000: what a kill can lose. Default 32. */
  readonly batchSize?: number;
  readonly onProgress?: (progress: WriteProgress) => void;
  /** Told of a second document with an id already seen, which is then left out; without it that is `ingest_failed`. */
  readonly onBad?: (problem: Problem) => void;
  readonly signal?: AbortSignal;
}

/** SHA-256 over everything that passages and vectors depend on. */
export function hashContent(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** A text as a pending document. `modelId` is the encoder's: another model encodes everything again. */
export function pendingText(document: SourceDocument, modelId: string): PendingDocument {
  const { id, title, url, text, source } = document;
  return {
    id,
    title,
    ...(url === undefined ? {} : { url }),
    source,
    contentHash: hashContent([SEGMENTER_VERSION, modelId, title, url ?? null, text]),
    async prepare() {
      return segmentText(text).map((segment, number) => ({
        ...segment,
        id: `${id}#${number}`,
        // A later passage often never names the subject: the title does. An id in its place says nothing.
        encode: title === id ? segment.text : `${title}. ${segment.text}`,
      }));
    },
  };
}

/** Vectors of passages by a text encoder. */
export function embedTexts(encoder: TextEncoder): Embed {
  return async (passages, signal) => {
    const texts = passages.map(({ encode }) => (typeof encode === 'string' ? encode : ''));
    const vectors = await encoder.encode(texts, 'passage', signal);
    return vectors.map((vector) => [vector]);
  };
}

/**
 * Brings documents into the index. Known content is passed over; the rest is encoded and staged in batches, and shown to
 * readers all at once at the end, new beside old and changed in place of old. A run that was killed is simply repeated: what it
 * had staged is known content. Throws `aborted`, `ingest_failed`, and what `prepare` and `embed` throw.
 */
export async function writeDocuments(options: WriteOptions): Promise<WriteResult> {
  const { writer, store, documents, batchSize = 32 } = options;
  const seen = new Set<string>();
  const counts = { unchanged: 0, passages: 0, done: 0 };
  let batch: Prepared[] = [];
  let pending = 0;

  const flush = async (): Promise<void> => {
    if (batch.length === 0) return;
    writer.stage(store, await embedBatch(batch, options));
    batch = [];
    pending = 0;
  };

  for (const document of documents) {
    assertGoing(options.signal);
    if (isNew(document, seen, options)) {
      if (writer.hashOf(store, document.id) === document.contentHash) counts.unchanged += 1;
      else {
        const passages = await document.prepare();
        batch.push({ document, passages });
        pending += passages.length;
        counts.passages += passages.length;
      }
    }
    if (pending >= batchSize) await flush();
    counts.done += 1;
    options.onProgress?.({ stage: 'encode', done: counts.done, total: documents.length });
  }
  await flush();
  const published = writer.publish(store);
  return {
    documents: seen.size,
    unchanged: counts.unchanged,
    replaced: published.replaced,
    passages: counts.passages,
    generation: published.generation,
  };
}

interface Prepared {
  readonly document: PendingDocument;
  readonly passages: readonly PendingPassage[];
}

function assertGoing(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw new AuscultError('aborted', {
    message: 'The ingest was cancelled; run it again to go on.',
    cause: signal.reason,
  });
}

function isNew(document: PendingDocument, seen: Set<string>, options: WriteOptions): boolean {
  if (!seen.has(document.id)) {
    seen.add(document.id);
    return true;
  }
  const problem = { path: document.source, reason: `The id "${document.id}" occurs twice in this ingest.` };
  if (!options.onBad) throw problemError(problem);
  options.onBad(problem);
  return false;
}

async function embedBatch(batch: readonly Prepared[], options: WriteOptions): Promise<NewDocument[]> {
  const vectors = await options.embed(
    batch.flatMap(({ passages }) => passages),
    options.signal,
  );
  let place = 0;
  return batch.map(({ document, passages }) => {
    const { id, title, url, source, contentHash } = document;
    const embedded = passages.map((passage): NewPassage => {
      const { id: passageId, text, start, end, clip } = passage;
      const found = vectors[place++] ?? [];
      return { id: passageId, text, start, end, ...(clip === undefined ? {} : { clip }), vectors: found };
    });
    return { id, title, ...(url === undefined ? {} : { url }), source, contentHash, passages: embedded };
  });
}
