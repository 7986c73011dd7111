import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { examQuestions, yesNoMaybeQuestions } from './fixtures/exam-questions.js';

const root = resolve(import.meta.dirname, '..');
const corpusDir = join(root, 'corpus');
const samplesDir = join(root, 'client/public/samples');

interface CorpusText {
  slug: string;
  title: string;
  topic: string;
  body: string;
}

const FRONT_MATTER = /^---\ntitle: (?<title>[^\n]+)\ntopic: (?<topic>[^\n]+)\n---\n\n(?<body>[\s\S]+)$/;

function readCorpusText(fileName: string): CorpusText {
  const match = FRONT_MATTER.exec(readFileSync(join(corpusDir, fileName), 'utf8'));
  const { title = '', topic = '', body = '' } = match?.groups ?? {};
  return { slug: fileName.replace(/\.md$/, ''), title: title.trim(), topic: topic.trim(), body: body.trim() };
}

function sentencesOf(body: string): string[] {
  return body
    .split(/(?<=[.!?])\s+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}

/** Values that occur more than once, each with everything that carries it; empty when all are unique. */
function repeated(pairs: readonly (readonly [value: string, carrier: string])[]): Record<string, string[]> {
  const carriers = new Map<string, string[]>();
  for (const [value, carrier] of pairs) carriers.set(value, [...(carriers.get(value) ?? []), carrier]);
  return Object.fromEntries([...carriers].filter(([, all]) => all.length > 1));
}

const fileNames = readdirSync(corpusDir).filter((name) => name.endsWith('.md') && name !== 'README.md');
const texts = fileNames.map(readCorpusText);
const slugs = new Set(texts.map((text) => text.slug));
const sentences = texts.flatMap((text) =>
  sentencesOf(text.body).map((sentence) => ({ slug: text.slug, sentence })),
);

describe('the demo corpus', () => {
  it('has 110 to 130 texts', () => {
    expect(texts.length).toBeGreaterThanOrEqual(110);
    expect(texts.length).toBeLessThanOrEqual(130);
  });

  it('names every file by a lower-case slug and gives it a title, a topic and a body', () => {
    const broken = texts.filter(
      ({ slug, title, topic, body }) =>
        !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug) || title === '' || topic === '' || body === '',
    );
    expect(broken.map((text) => text.slug)).toEqual([]);
  });

  it('keeps every text between 110 and 190 words', () => {
    const wordCounts = texts.map(({ slug, body }) => ({ slug, words: body.split(/\s+/).length }));
    expect(wordCounts.filter(({ words }) => words < 110 || words > 190)).toEqual([]);
  });

  it('has no title twice', () => {
    expect(repeated(texts.map(({ slug, title }) => [title.toLowerCase(), slug]))).toEqual({});
  });

  it('has no sentence twice, so a quoted sentence has one source', () => {
    expect(repeated(sentences.map(({ slug, sentence }) => [sentence.toLowerCase(), slug]))).toEqual({});
  });

  it('lets every sentence stand alone: capital, full stop, no leading pronoun, at most 200 characters', () => {
    const leaning = /^(It|They|This|That|These|Those|He|She|Such|There|Others|Both|Then|However)\b/;
    const broken = sentences.filter(
      ({ sentence }) =>
        !/^[A-Z]/.test(sentence) ||
        !sentence.endsWith('.') ||
        leaning.test(sentence) ||
        sentence.length > 200,
    );
    expect(broken).toEqual([]);
  });

  it('gives no amount of a medicine', () => {
    const dose =
      /\b\d+([.,]\d+)?\s?(mg|milligrams?|mcg|micrograms?|ml|millilitres?|tablets?|puffs?|units)\b/i;
    expect(sentences.filter(({ sentence }) => dose.test(sentence))).toEqual([]);
  });

  it('holds both sides of every pair that is easily confused', () => {
    const pairs = [
      ['hypertension', 'hypotension'],
      ['hyperthyroidism', 'hypothyroidism'],
      ['hyperglycaemia', 'hypoglycaemia'],
      ['hyperplasia', 'hypoplasia'],
      ['ileum', 'ilium'],
      ['dysphagia', 'dysphasia'],
      ['viral-infections', 'bacterial-infections'],
    ] as const;
    expect(pairs.flat().filter((slug) => !slugs.has(slug))).toEqual([]);
  });
});

describe('the sample questions of the page', () => {
  const samples = JSON.parse(readFileSync(join(samplesDir, 'samples.json'), 'utf8')) as {
    id: string;
    text: string;
    audio: string;
    contract: string;
  }[];
  const recordings = samples.map(({ id }) => readFileSync(join(samplesDir, `${id}.wav`)));

  it('are nine open questions with unique ids, each naming its own recording', () => {
    expect(samples).toHaveLength(9);
    expect(repeated(samples.map(({ id, text }) => [id, text]))).toEqual({});
    for (const { id, text, audio, contract } of samples) {
      expect({ audio, contract }).toEqual({ audio: `samples/${id}.wav`, contract: 'open' });
      expect(text.endsWith('?')).toBe(true);
    }
  });

  it('are 16 kHz mono 16-bit PCM of one to five seconds that hold sound', () => {
    for (const wav of recordings) {
      expect(wav.toString('latin1', 0, 4) + wav.toString('latin1', 8, 16)).toBe('RIFFWAVEfmt ');
      expect([
        wav.readUInt16LE(20),
        wav.readUInt16LE(22),
        wav.readUInt32LE(24),
        wav.readUInt16LE(34),
      ]).toEqual([1, 1, 16_000, 16]);
      const seconds = (wav.length - 44) / 2 / 16_000;
      expect(seconds).toBeGreaterThan(1);
      expect(seconds).toBeLessThan(5);
      let peak = 0;
      for (let at = 44; at + 1 < wav.length; at += 2) peak = Math.max(peak, Math.abs(wav.readInt16LE(at)));
      expect(peak).toBeGreaterThan(3_000);
    }
  });

  it('weigh less than 1.2 MB in all', () => {
    expect(recordings.reduce((sum, wav) => sum + wav.length, 0)).toBeLessThan(1_200_000);
  });
});

describe('the exam questions of the tests', () => {
  it('are 20 multiple-choice and 10 yes/no/maybe questions with unique ids', () => {
    expect([examQuestions.length, yesNoMaybeQuestions.length]).toEqual([20, 10]);
    const all = [...examQuestions, ...yesNoMaybeQuestions];
    expect(repeated(all.map(({ id, question }) => [id, question]))).toEqual({});
  });

  it('point at texts of the corpus', () => {
    const all = [...examQuestions, ...yesNoMaybeQuestions];
    expect(all.filter(({ documentId }) => !slugs.has(documentId))).toEqual([]);
  });

  it('offer the right answer among distinct options, and use every letter as an answer', () => {
    for (const { options, answer } of examQuestions) {
      expect(Object.keys(options)).toEqual(['A', 'B', 'C', 'D']);
      expect(new Set(Object.values(options)).size).toBe(4);
      expect(Object.keys(options)).toContain(answer);
    }
    expect([...new Set(examQuestions.map(({ answer }) => answer))].sort()).toEqual(['A', 'B', 'C', 'D']);
  });

  it('use yes, no and maybe', () => {
    expect([...new Set(yesNoMaybeQuestions.map(({ answer }) => answer))].sort()).toEqual([
      'maybe',
      'no',
      'yes',
    ]);
  });
});
