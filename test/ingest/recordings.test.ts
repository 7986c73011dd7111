import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { windowsOf } from '../../server/audio/windower.js';
import type { SpeechEncoder } from '../../server/encode/speech-encoder.js';
import { writeDocuments } from '../../server/ingest/index-writer.js';
import { embedRecordings, readRecordings } from '../../server/ingest/recordings.js';
import type { Hearing } from '../../server/ingest/recordings.js';
import { createCorpusIndex } from '../../server/retrieve/corpus-index.js';
import { unit } from '../fixtures/vectors.js';

let folder = '';
let read: string[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'auscult-recordings-'));
  read = [];
});
afterEach(async () => rm(folder, { recursive: true, force: true }));

/** Sound of 20 s whose samples rise from 0 to 1, so that a window's ends tell where it lies. */
const rising = Float32Array.from({ length: 320_000 }, (_, index) => index / 320_000);
const hearing: Hearing = {
  modelId: 'fake-ear',
  windowsOf,
  async readSpeech(path) {
    read.push(path);
    return rising;
  },
};
const encoder: SpeechEncoder = {
  dimensions: 2,
  modelId: 'fake-ear',
  async encode(windows) {
    return windows.map((window) => {
      const mean = ((window[0] ?? 0) + (window.at(-1) ?? 0)) / 2;
      return { vector: unit([Math.cos(mean), Math.sin(mean)]), features: new Float32Array(0), frames: 0 };
    });
  },
  async close() {},
};

async function list(lines: readonly unknown[]): Promise<string> {
  const path = join(folder, 'list.jsonl');
  await writeFile(path, lines.map((line) => JSON.stringify(line)).join('\n'));
  return path;
}
async function ingest(path: string) {
  const index = await createCorpusIndex({
    dataDir: join(folder, 'data'),
    dimensions: 2,
    textModelId: 'text',
    speechModelId: 'fake-ear',
  });
  const result = await writeDocuments({
    writer: index.writer,
    store: 'speech',
    documents: await readRecordings([path], hearing),
    embed: embedRecordings(encoder),
  });
  await index.reload();
  return { index, result };
}

describe('ingesting recordings', () => {
  it('makes one item of a spoken question, with a vector a window and its text', async () => {
    await mkdir(join(folder, 'audio'));
    await writeFile(join(folder, 'audio/q1.wav'), 'sound');
    const path = await list([{ id: 'q1', text: 'What is gout?', audio: 'audio/q1.wav', speaker: 'anna' }]);
    const { index, result } = await ingest(path);
    expect([result.documents, result.passages, index.speechVectors.size]).toEqual([1, 1, 4]);
    expect(index.passages.byId('speech:q1#0')).toMatchObject({
      documentId: 'speech:q1',
      text: 'What is gout?',
      clip: { recordingId: 'q1', startMs: 0, endMs: 20_000, speaker: 'anna' },
    });
    index.close();

    const again = await ingest(path);
    expect([again.result.unchanged, read.length]).toEqual([1, 1]);
    again.index.close();
  });

  it('joins the segments of one recording in the order of time, each with its neighbours', async () => {
    await writeFile(join(folder, 'talk.wav'), 'sound');
    const path = await list([
      { id: 'b', text: 'second', audio: 'talk.wav', startMs: 4000, endMs: 8000 },
      { id: 'a', text: 'first', audio: 'talk.wav', startMs: 0, endMs: 4000 },
    ]);
    const { index } = await ingest(path);
    expect(index.stats().speech).toMatchObject({ documents: 1, passages: 2, vectors: 2 });
    const [first, second] = ['a', 'b'].map((id) => index.passages.byId(`speech:${id}#0`));
    expect(first?.clip).toMatchObject({ nextId: 'speech:b#0', startMs: 0, endMs: 4000 });
    expect(first?.clip?.previousId).toBeUndefined();
    expect(second?.clip).toMatchObject({ previousId: 'speech:a#0', startMs: 4000, endMs: 8000 });
    expect(second?.documentId).toBe('speech:talk.wav');
    index.close();
  });

  it('cuts a whole recording into pieces that hold every millisecond once', async () => {
    await writeFile(join(folder, 'talk.wav'), 'sound');
    const [document] = await readRecordings([join(folder, 'talk.wav')], hearing);
    const pieces = (await document?.prepare()) ?? [];
    expect(pieces.map(({ clip }) => [clip?.startMs, clip?.endMs])).toEqual([
      [0, 8000],
      [8000, 16000],
      [16000, 20000],
    ]);
    expect(pieces[1]?.clip).toMatchObject({ previousId: 'speech:talk.wav#0', nextId: 'speech:talk.wav#2' });
  });

  it.each([
    ['an absolute path', '/etc/hostname'],
    ['a path that leads out', '../outside.wav'],
    ['a link that leads out', 'link.wav'],
    ['a file that is not there', 'nothing.wav'],
  ])('refuses %s, naming the line, or counts it', async (_, audio) => {
    await symlink('/etc/hostname', join(folder, 'link.wav'));
    const path = await list([{ id: 'q', text: 'x', audio }]);
    await expect(readRecordings([path], hearing)).rejects.toMatchObject({
      code: 'ingest_failed',
      message: expect.stringMatching(/list\.jsonl:1: /) as string,
    });
    const bad: unknown[] = [];
    expect(await readRecordings([path], hearing, { onBad: (problem) => bad.push(problem) })).toEqual([]);
    expect(bad).toHaveLength(1);
  });

  it('refuses a part that lies outside the recording', async () => {
    await writeFile(join(folder, 'talk.wav'), 'sound');
    const path = await list([{ id: 'q', text: 'x', audio: 'talk.wav', startMs: 30_000, endMs: 31_000 }]);
    const [document] = await readRecordings([path], hearing);
    await expect(document?.prepare()).rejects.toMatchObject({ code: 'not_audio' });
  });
});
