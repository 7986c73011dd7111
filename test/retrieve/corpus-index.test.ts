import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCorpusIndex } from '../../server/retrieve/corpus-index.js';
import type { CorpusIndex } from '../../server/retrieve/corpus-index.js';
import { contractPassages, passageStoreContract } from '../contracts/passage-store.contract.js';
import { createFakePassageStore } from '../fakes/fake-passage-store.js';
import { newDocument } from '../fixtures/passages.js';
import { unit } from '../fixtures/vectors.js';

const [east, north, up] = [unit([1, 0, 0]), unit([0, 1, 0]), unit([0, 0, 1])];
const models = { dimensions: 3, textModelId: 'text-1', speechModelId: 'ear-1' };
let folder = '';
const opened: CorpusIndex[] = [];

async function open(more: Partial<Parameters<typeof createCorpusIndex>[0]> = {}): Promise<CorpusIndex> {
  const index = await createCorpusIndex({ dataDir: folder, ...models, ...more });
  opened.push(index);
  return index;
}
function closeAll(): void {
  for (const index of opened.splice(0)) index.close();
}
const found = (index: CorpusIndex, vector: Float32Array) =>
  index.passages
    .byKeys(
      'passages',
      index.passageVectors.search(vector, 5).map((hit) => hit.key),
    )
    .map((p) => p.text);
const doc = (id: string, text: string, vector: Float32Array, hash = text) =>
  newDocument(id, [{ text, vectors: [vector] }], { contentHash: hash });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'auscult-index-'));
});
afterEach(async () => {
  closeAll();
  await rm(folder, { recursive: true, force: true });
});

passageStoreContract('the sqlite passage store', async () => {
  const index = await open();
  for (const passage of contractPassages) {
    const { id, text, start, end, clip } = passage;
    const vectors = passage.store === 'speech' ? [east, north] : [east];
    index.writer.stage(passage.store, [
      {
        id: passage.documentId,
        title: passage.title,
        ...(passage.url === undefined ? {} : { url: passage.url }),
        source: passage.source,
        contentHash: 'x',
        passages: [{ id, text, start, end, ...(clip ? { clip } : {}), vectors }],
      },
    ]);
  }
  index.writer.publish('passages');
  index.writer.publish('speech');
  const key = (id: string) => index.passages.byId(id)?.key ?? -1;
  return {
    store: index.passages,
    keys: { asthma: key('asthma#0'), gout: key('gout#0'), spoken: key('speech:q1#0') },
  };
});
passageStoreContract('the fake passage store', async () => ({
  store: createFakePassageStore(contractPassages.map((passage, index) => ({ ...passage, key: index + 3 }))),
  keys: { asthma: 3, gout: 4, spoken: 5 },
}));

describe('the index of a corpus', () => {
  it('shows staged documents only when they are published, all at once', async () => {
    const index = await open();
    index.writer.stage('passages', [doc('a', 'one', east), doc('b', 'two', north)]);
    await index.reload();
    expect([found(index, east), index.keywords.size, index.passages.size]).toEqual([[], 0, 0]);
    expect(index.writer.hashOf('passages', 'a')).toBe('one');
    expect(index.writer.publish('passages')).toEqual({ generation: 1, documents: 2, replaced: 0 });
    expect(await index.reload()).toBe(true);
    expect(found(index, east)).toEqual(['one', 'two']);
    expect(index.keywords.search('two', 5)).toHaveLength(1);
    expect(await index.reload()).toBe(false);
  });

  it('replaces a changed document and forgets its old passages in every store', async () => {
    const index = await open();
    index.writer.stage('passages', [doc('a', 'old words', east), doc('b', 'other', north)]);
    index.writer.publish('passages');
    await index.reload();
    index.writer.stage('passages', [doc('a', 'new words', up)]);
    expect(index.passages.byId('a#0')?.text).toBe('old words');
    expect(index.writer.publish('passages')).toMatchObject({ documents: 1, replaced: 1 });
    await index.reload();
    expect(index.passages.byId('a#0')?.text).toBe('new words');
    expect(index.passageVectors.size).toBe(2);
    expect(found(index, up)[0]).toBe('new words');
    expect(index.keywords.search('old', 5)).toEqual([]);
  });

  it('removes documents on request', async () => {
    const index = await open();
    index.writer.stage('passages', [doc('a', 'one', east), doc('b', 'two', north)]);
    index.writer.publish('passages');
    index.writer.stage('passages', [doc('c', 'staged', up)]);
    expect(index.writer.remove('passages', ['a', 'c', 'unknown'])).toBe(2);
    await index.reload();
    expect(found(index, east)).toEqual(['two']);
    expect(index.writer.publish('passages').documents).toBe(0);
  });

  it('is taken up by another process that has it open', async () => {
    const [server, ingest] = [await open(), await open()];
    ingest.writer.stage('passages', [doc('a', 'one', east)]);
    ingest.writer.publish('passages');
    await ingest.reload();
    expect(found(server, east)).toEqual([]);
    expect(await server.reload()).toBe(true);
    expect(found(server, east)).toEqual(['one']);
    expect(server.stats().passages).toMatchObject({
      documents: 1,
      passages: 1,
      vectors: 1,
      opened: 'as it was',
    });
  });

  it('opens its vector file as it was, brings an older one up to date, and rebuilds a lost or damaged one', async () => {
    const first = await open();
    first.writer.stage('passages', [doc('a', 'one', east), doc('b', 'two', north), doc('c', 'three', up)]);
    first.writer.publish('passages');
    await first.reload();
    closeAll();
    const path = join(folder, 'passages.usearch');

    const second = await open();
    expect(second.stats().passages.opened).toBe('as it was');
    // Published, and killed before the vector file was written again.
    second.writer.stage('passages', [doc('d', 'four', unit([1, 1, 0]))]);
    second.writer.publish('passages');
    closeAll();

    const third = await open();
    expect(third.stats().passages).toMatchObject({ opened: 'brought up to date', vectors: 4 });
    closeAll();

    await writeFile(path, 'rubbish');
    const steps: string[] = [];
    const fourth = await open({
      onProgress: ({ stage, done, total }) => steps.push(`${stage} ${done}/${total}`),
    });
    expect(fourth.stats().passages.opened).toMatch(/^rebuilt: .*truncated/);
    expect(steps.at(-1)).toBe('index passages 4/4');
    expect(found(fourth, east)[0]).toBe('one');
    closeAll();

    await rm(path);
    expect((await open()).stats().passages).toMatchObject({ vectors: 4 });
    expect((await stat(path)).size).toBeGreaterThan(100);
  });

  it('keeps several vectors of one spoken item and answers for each of them', async () => {
    const index = await open();
    index.writer.stage('speech', [newDocument('speech:q', [{ text: 'said', vectors: [east, up] }])]);
    index.writer.publish('speech');
    await index.reload();
    const keys = index.speechVectors.search(east, 9).map((hit) => hit.key);
    expect(keys).toHaveLength(2);
    expect(index.passages.byKeys('speech', keys).map((p) => p.id)).toEqual(['speech:q#0', 'speech:q#0']);
    expect(index.passages.size).toBe(1);
    expect([...(index.vectorOf(keys[0] ?? -1) ?? [])]).toEqual([...east]);
  });

  it('refuses a vector that is not of length 1 and stages nothing', async () => {
    const index = await open();
    const bad = doc('b', 'bad', Float32Array.from([3, 0, 0]));
    expect(() => index.writer.stage('passages', [doc('a', 'one', east), bad])).toThrowError(
      expect.objectContaining({ code: 'index_corrupt' }) as Error,
    );
    expect(index.writer.hashOf('passages', 'a')).toBeNull();
  });

  it('is index_missing where it must exist and does not', async () => {
    await expect(open({ mustExist: true })).rejects.toMatchObject({ code: 'index_missing' });
  });

  it('is index_corrupt for another model, naming both, unless it is empty', async () => {
    await open();
    closeAll();
    const index = await open({ textModelId: 'text-2' });
    index.writer.stage('passages', [doc('a', 'one', east)]);
    closeAll();
    await expect(open({ textModelId: 'text-3' })).rejects.toMatchObject({
      code: 'index_corrupt',
      message: expect.stringMatching(/text-2.*text-3.*ingest/s) as string,
    });
  });

  it('is index_corrupt when the database is no database', async () => {
    await writeFile(
      join(folder, 'index.sqlite'),
      'not a database, but long enough to be looked at as one'.repeat(40),
    );
    await expect(open()).rejects.toMatchObject({ code: 'index_corrupt' });
  });
});
