import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createJsonlSink } from '../../server/trace/jsonl-sink.js';
import { makeManifest, readManifest, writeManifest } from '../../server/trace/manifest.js';
import { traceOf, traceSinkContract } from '../contracts/trace-sink.contract.js';

const folder = () => mkdtemp(join(tmpdir(), 'auscult-traces-'));

traceSinkContract('jsonl', async () => createJsonlSink(await folder()));

describe('the jsonl sink', () => {
  it('writes one line a turn into one file a day', async () => {
    const place = await folder();
    const sink = await createJsonlSink(place);
    await sink.write(traceOf('a'));
    await sink.write(traceOf('b'));
    await sink.write(traceOf('c', { startedWallMs: Date.UTC(2026, 4, 2) }));
    expect((await readdir(place)).sort()).toEqual(['turns-2026-05-01.jsonl', 'turns-2026-05-02.jsonl']);
    expect((await readFile(join(place, 'turns-2026-05-01.jsonl'), 'utf8')).trim().split('\n')).toHaveLength(
      2,
    );
  });

  it('leaves no word of a removed record in the folder', async () => {
    const place = await folder();
    const sink = await createJsonlSink(place);
    await sink.write(traceOf('a', { answer: 'a secret word' }));
    await sink.write(traceOf('b', { sessionId: 'session-2' }));
    await sink.remove({ sessionId: 'session-1' });
    const texts = await Promise.all(
      (await readdir(place)).map((name) => readFile(join(place, name), 'utf8')),
    );
    expect(texts.join()).not.toContain('secret');
  });

  it('says which file is damaged instead of inventing a record', async () => {
    const place = await folder();
    await writeFile(join(place, 'turns-2026-05-01.jsonl'), '{"traceId":"a", broken\n');
    const sink = await createJsonlSink(place);
    await expect(sink.read('a')).rejects.toMatchObject({ code: 'file_unreadable' });
  });
});

describe('the manifest of a run', () => {
  it('is read back as it was written and names models, index, configuration and lock file', async () => {
    const place = await folder();
    const manifest = makeManifest({
      wallMs: 5,
      root: process.cwd(),
      models: [{ name: 'ear.onnx', sha256: 'ab' }],
      index: { passages: { generation: 3 } },
      config: { port: 1 },
    });
    await writeManifest(place, manifest);
    expect(await readManifest(place, manifest.runId)).toEqual(manifest);
    expect(manifest.lockFileSha256).toMatch(/^[0-9a-f]{64}$/);
    await expect(readManifest(place, 'another')).rejects.toMatchObject({ code: 'not_found' });
  });
});
