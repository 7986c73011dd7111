import { writeDocuments, embedTexts, pendingText } from '../../server/ingest/index-writer.js';
import { readDocuments } from '../../server/ingest/documents.js';
import type { PendingDocument } from '../../server/ingest/index-writer.js';
import { createCorpusIndex } from '../../server/retrieve/corpus-index.js';
import { createFakeTextEncoder } from '../fakes/fake-text-encoder.js';

/** Ingests argv[3] into argv[2] with an encoder that takes its time, telling each step: a process that a test kills. */
const [, , dataDir = '', path = ''] = process.argv;
const encoder = createFakeTextEncoder();
const slow: typeof encoder = {
  ...encoder,
  async encode(texts, role, signal) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return encoder.encode(texts, role, signal);
  },
};
const index = await createCorpusIndex({
  dataDir,
  dimensions: encoder.dimensions,
  textModelId: encoder.modelId,
  speechModelId: 'fake-ear',
});
const documents: PendingDocument[] = [];
for await (const document of readDocuments([path])) documents.push(pendingText(document, encoder.modelId));
await writeDocuments({
  writer: index.writer,
  store: 'passages',
  documents,
  embed: embedTexts(slow),
  batchSize: 2,
  onProgress: ({ done }) => console.log(`done ${done}`),
});
console.log('published');
