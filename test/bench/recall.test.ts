import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openCorpus, rankDocuments } from '../../bench/recall-corpus.js';
import { splitPeople } from '../../bench/recall-sets.js';
import type { TextEncoder } from '../../server/encode/text-encoder.js';

const PASSAGES = [
  { documentId: 'heart', text: 'heart attack' },
  { documentId: 'lung', text: 'lung disease' },
  { documentId: 'heart', text: 'heart rate' },
  { documentId: 'skin', text: 'skin rash' },
];
const WORDS = ['heart', 'attack', 'lung', 'disease', 'rate', 'skin', 'rash'];

/** One dimension a word; counts the texts that it was given. */
function createCountingEncoder(): TextEncoder & { encoded: number } {
  return {
    dimensions: WORDS.length,
    modelId: 'words',
    encoded: 0,
    async encode(texts) {
      this.encoded += texts.length;
      return texts.map((text) => {
        const counts = WORDS.map((word) => (text.includes(word) ? 1 : 0));
        const length = Math.hypot(...counts) || 1;
        return Float32Array.from(counts, (count) => count / length);
      });
    },
    close: async () => undefined,
  };
}

describe('the corpus of the recall bench', () => {
  let folder = '';
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'auscult-recall-'))));
  afterEach(() => rm(folder, { recursive: true }));

  it('ranks a document by its best passage', () => {
    expect(rankDocuments(PASSAGES, [0.1, 0.5, 0.9, 0.2], 2)).toEqual(['heart', 'lung']);
  });

  it('takes the best of all windows', async () => {
    const encoder = createCountingEncoder();
    const corpus = await openCorpus(PASSAGES, encoder, folder);
    const [skin, lung] = await encoder.encode(['skin rash', 'lung'], 'query');
    expect(corpus.byVectors([skin as Float32Array, lung as Float32Array], 2)).toEqual(['skin', 'lung']);
  });

  it('finds documents by keywords, and fused as the server fuses', async () => {
    const encoder = createCountingEncoder();
    const corpus = await openCorpus(PASSAGES, encoder, folder);
    expect(corpus.byKeywords('a heart attack', 10)).toEqual(['heart']);
    const vectors = await encoder.encode(['lung'], 'query');
    const { items } = await corpus.retriever.retrieve({
      queries: [{ source: 'speech', vectors }],
      settings: { k: 3, fusion: 'zscore', maxRounds: 1 },
    });
    expect(items[0]?.documentId).toBe('lung');
  });

  it('encodes a corpus once for a model', async () => {
    await openCorpus(PASSAGES, createCountingEncoder(), folder);
    const second = createCountingEncoder();
    await openCorpus(PASSAGES, second, folder);
    expect(second.encoded).toBe(0);
    const other = { ...createCountingEncoder(), modelId: 'another' };
    await openCorpus(PASSAGES, other, folder);
    expect(other.encoded).toBe(PASSAGES.length);
  });

  it('goes on after a run that was killed in the middle of a write', async () => {
    const encoder = createCountingEncoder();
    await openCorpus(PASSAGES, encoder, folder);
    const [name] = await readdir(folder);
    const path = join(folder, name as string);
    const whole = await readFile(path);
    await writeFile(path, whole.subarray(0, WORDS.length * 4 * 2 + 5));
    const second = createCountingEncoder();
    await openCorpus(PASSAGES, second, folder);
    expect(second.encoded).toBe(2);
    expect(await readFile(path)).toEqual(whole);
  });
});

describe('the split of recorded people', () => {
  it('keeps every fourth speaker, and all sources but the prompts, out of what was trained on', () => {
    const row = (source: string, speaker: string, text = 'ONE TWO', seconds = 2) => ({
      source,
      speaker,
      text,
      seconds,
    });
    const rows = [
      ...['a', 'b', 'c', 'd', 'e'].map((speaker) => row('an4', speaker)),
      row('asterisk-en-allison', 'allison'),
      row('librispeech-mini', '84'),
      row('librispeech-mini', '85', 'too long', 9),
      row('an4', 'a', '...'),
    ];
    const { held, trained } = splitPeople(rows);
    expect(held.map(({ speaker }) => speaker)).toEqual(['a', 'e', '84']);
    expect(trained.map(({ speaker }) => speaker)).toEqual(['b', 'c', 'd', 'allison']);
  });
});
