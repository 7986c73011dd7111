import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'vite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCorpusIndex } from '../../server/retrieve/corpus-index.js';
import { readDocuments } from '../../server/ingest/documents.js';
import { embedTexts, pendingText, writeDocuments } from '../../server/ingest/index-writer.js';
import type { PendingDocument } from '../../server/ingest/index-writer.js';
import { createFakeTextEncoder, fakeTextVector } from '../fakes/fake-text-encoder.js';

const root = resolve(import.meta.dirname, '../..');
let folder = '';
let script = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'auscult-killed-'));
  // Below node_modules, so that the built script finds the packages; the name keeps two runs apart.
  const outDir = await mkdtemp(join(root, 'node_modules/.auscult-test-'));
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    build: { ssr: 'test/ingest/slow-ingest.ts', outDir, emptyOutDir: true, target: 'node20' },
  });
  script = join(outDir, 'slow-ingest.js');
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  if (script) await rm(resolve(script, '..'), { recursive: true, force: true });
});

const encoder = createFakeTextEncoder();

async function openIndex(dataDir: string) {
  return createCorpusIndex({
    dataDir,
    dimensions: encoder.dimensions,
    textModelId: encoder.modelId,
    speechModelId: 'fake-ear',
  });
}

async function ingest(dataDir: string, path: string) {
  const index = await openIndex(dataDir);
  const documents: PendingDocument[] = [];
  for await (const document of readDocuments([path])) documents.push(pendingText(document, encoder.modelId));
  const result = await writeDocuments({
    writer: index.writer,
    store: 'passages',
    documents,
    embed: embedTexts(encoder),
  });
  await index.reload();
  return { index, result };
}

/** Kills the child for good as soon as it has told of `after` documents; resolves to whether it was killed in mid-work. */
async function killedIngest(dataDir: string, path: string, after: number): Promise<string> {
  const child = spawn(process.execPath, [script, dataDir, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  let told = '';
  child.stdout.on('data', (chunk: Buffer) => {
    told += chunk.toString();
    if (told.includes(`done ${after}\n`)) child.kill('SIGKILL');
  });
  await new Promise((resolveExit) => child.on('close', resolveExit));
  return `${child.signalCode ?? 'ended by itself'}${told.includes('published') ? ', published' : ''}`;
}

it('leaves the old index whole when it is killed, and goes on from there when it is repeated', async () => {
  const [dataDir, texts] = [join(folder, 'data'), join(folder, 'texts')];
  await mkdir(texts);
  await writeFile(join(texts, 'gout.md'), 'Gout is a painful swelling of one joint.');
  (await ingest(dataDir, texts)).index.close();

  await writeFile(join(texts, 'gout.md'), 'Gout comes from crystals of uric acid.');
  const line = (number: number) =>
    JSON.stringify({ id: `d${number}`, text: `Subject${number} is explained here.` });
  await writeFile(
    join(texts, 'more.jsonl'),
    Array.from({ length: 30 }, (_, number) => line(number)).join('\n'),
  );
  expect(await killedIngest(dataDir, texts, 12)).toBe('SIGKILL');

  const old = await openIndex(dataDir);
  const hits = old.passageVectors.search(fakeTextVector('painful swelling joint'), 10);
  const shown = old.passages.byKeys(
    'passages',
    hits.map((hit) => hit.key),
  );
  expect(shown.map((passage) => passage.text)).toEqual(['Gout is a painful swelling of one joint.']);
  expect(old.keywords.size).toBe(1);
  old.close();

  const { index, result } = await ingest(dataDir, texts);
  expect(result.documents).toBe(31);
  expect(result.replaced).toBe(1);
  // What the killed run had staged is not encoded again.
  expect(result.unchanged).toBeGreaterThanOrEqual(8);
  expect(result.passages).toBe(31 - result.unchanged);
  expect(index.stats().passages).toMatchObject({ documents: 31, passages: 31, vectors: 31 });
  expect(index.passages.byId('gout#0')?.text).toContain('uric acid');
  expect(index.keywords.search('subject29', 3)).toHaveLength(1);
  index.close();
});
