import type { TextEncoder } from '../encode/text-encoder.js';
import type { CorpusIndex } from '../retrieve/corpus-index.js';
import { readDocuments } from './documents.js';
import { embedTexts, pendingText, writeDocuments } from './index-writer.js';
import type { PendingDocument, WriteProgress, WriteResult } from './index-writer.js';

/** What seeding needs of the house. */
export interface SeedTarget {
  readonly index: Pick<CorpusIndex, 'stats' | 'writer' | 'reload'>;
  readonly engines: { readonly textEncoder: TextEncoder };
}

/**
 * Indexes the texts of a folder when there are no passages yet, that is on the first start; else does nothing and gives null. A
 * start that was killed meanwhile goes on where it was. Throws `file_unreadable` or `ingest_failed` as `readDocuments` does.
 */
export async function seedCorpus(
  folder: string,
  target: SeedTarget,
  onProgress?: (progress: WriteProgress) => void,
): Promise<WriteResult | null> {
  const { index, engines } = target;
  if (index.stats().passages.documents > 0) return null;
  const documents: PendingDocument[] = [];
  for await (const document of readDocuments([folder])) {
    documents.push(pendingText(document, engines.textEncoder.modelId));
  }
  const result = await writeDocuments({
    writer: index.writer,
    store: 'passages',
    documents,
    embed: embedTexts(engines.textEncoder),
    ...(onProgress ? { onProgress } : {}),
  });
  await index.reload(onProgress);
  return result;
}
