import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { readSpeech } from '../server/audio/audio-file.js';
import { isThere, plain, readRows } from './data.js';
import { createRandom, sample } from './misspell.js';

/**
 * `people`: all recorded people; `sentences`: those of them who speak running text. The others spell and count, and a transcriber
 * that writes `738` for "seven thirty eight" misses its own words for its spelling, not for its hearing: read the two together.
 */
export const SET_NAMES = ['pubmedqa', 'medquad', 'scifact', 'people', 'sentences'] as const;
export type SetName = (typeof SET_NAMES)[number];

/** One spoken question with what it should find. */
export interface Utterance {
  readonly id: string;
  readonly text: string;
  /** Utterances of the same words form one cluster. */
  readonly cluster: string;
  readonly relevant: ReadonlySet<string>;
  /** Samples at 16 kHz. */
  read(): Promise<Float32Array>;
}

export interface SearchedPassage {
  readonly documentId: string;
  readonly text: string;
}

export interface RecallSet {
  readonly name: SetName;
  readonly voice: string;
  readonly utterances: readonly Utterance[];
  readonly passages: readonly SearchedPassage[];
}

export interface SetOptions {
  readonly data: string;
  readonly cache: string;
  /** Most utterances; a smaller number takes a part of the larger one's. */
  readonly limit: number;
}

const SEED = 20_266;
/** Questions spoken on the fly from each written set. */
const SPOKEN_SAMPLE = 150;
/** Texts among which a recorded person's own transcript is looked for. */
const PEOPLE_TEXTS = 10_000;
/** Every fourth AN4 speaker is kept out of the ear's training, and so is every other source but the prompts (models/build/make_speech.py). */
const TEST_EVERY = 4;
const LEAST_WORDS = 4;
/** Speakers of this source spell names and say numbers. */
const SPELLING_SOURCE = 'an4';
const LONGEST_SECONDS = 8;

interface QueryRow {
  readonly id: string;
  readonly text: string;
  readonly relevantDocs: readonly string[];
  readonly audio?: string;
}
interface CorpusRow {
  readonly id: string;
  readonly doc?: string;
  readonly title?: string;
  readonly text: string;
}
interface PersonRow {
  readonly id: string;
  readonly audio: string;
  readonly seconds: number;
  readonly speaker: string;
  readonly text: string;
  readonly source: string;
}

/** A set with its recordings and corpus; null, said aloud, when it cannot be measured here. */
export async function loadSet(name: SetName, options: SetOptions): Promise<RecallSet | null> {
  switch (name) {
    case 'pubmedqa':
      return loadPubMedQa(options);
    case 'people':
    case 'sentences':
      return loadPeople(name, options);
    default:
      return loadSpoken(name, options);
  }
}

async function loadPubMedQa(options: SetOptions): Promise<RecallSet | null> {
  const folder = join(options.data, 'spoken', 'pubmedqa');
  if (!isThere(join(folder, 'questions.jsonl'), 'spoken PubMedQA')) return null;
  const rows = await readRows<QueryRow>(join(folder, 'questions.jsonl'));
  return {
    name: 'pubmedqa',
    voice: 'flite awb (held out)',
    utterances: limited(rows, options.limit).map((row) =>
      toUtterance(row, () => readSpeech(join(folder, row.audio ?? ''))),
    ),
    passages: await readCorpus(options.data, 'pubmedqa'),
  };
}

async function loadSpoken(name: 'medquad' | 'scifact', options: SetOptions): Promise<RecallSet | null> {
  const queries = join(options.data, 'retrieval', name, 'queries.jsonl');
  if (!isThere(queries, name)) return null;
  if (!hasVoice()) {
    console.log(`NOT MEASURED: ${name} (it is spoken by flite's voice awb, which is not installed).`);
    return null;
  }
  const rows = limited(await readRows<QueryRow>(queries), Math.min(options.limit, SPOKEN_SAMPLE));
  return {
    name,
    voice: 'flite awb (held out)',
    utterances: rows.map((row) => toUtterance(row, () => readSpeech(speak(row.text, options.cache)))),
    passages: await readCorpus(options.data, name),
  };
}

async function readCorpus(data: string, name: string): Promise<SearchedPassage[]> {
  const rows = await readRows<CorpusRow>(join(data, 'retrieval', name, 'corpus.jsonl'));
  return rows.map(({ id, doc, title, text }) => ({
    documentId: doc ?? id,
    text: title ? `${title}. ${text}` : text,
  }));
}

function toUtterance(row: QueryRow, read: () => Promise<Float32Array>): Utterance {
  const { id, text } = row;
  return { id, text, cluster: plain(text), relevant: new Set(row.relevantDocs), read };
}

/** Recorded people whom the ear never heard; each looks for the words that he or she said. */
async function loadPeople(name: 'people' | 'sentences', options: SetOptions): Promise<RecallSet | null> {
  const path = join(options.data, 'speech', 'recordings.jsonl');
  if (!isThere(path, 'recorded people')) return null;
  const { held, trained } = splitPeople(await readRows<PersonRow>(path));
  const spoken = held.filter(
    ({ text, source }) =>
      plain(text).split(' ').length >= LEAST_WORDS && (name === 'people' || source !== SPELLING_SOURCE),
  );
  const training = await readRows<{ text: string }>(join(options.data, 'train', 'texts.jsonl'));
  const pool = [...held, ...trained, ...training].map(({ text }) => text.toLowerCase());
  const texts = [...new Map(pool.map((text) => [plain(text), text])).entries()].slice(0, PEOPLE_TEXTS);
  return {
    name,
    voice: 'recorded people (speakers held out)',
    utterances: limited(spoken, options.limit).map((row) => ({
      id: row.id,
      text: row.text.toLowerCase(),
      cluster: plain(row.text),
      relevant: new Set([plain(row.text)]),
      read: () => readSpeech(join(options.data, row.audio)),
    })),
    passages: texts.map(([documentId, text]) => ({ documentId, text })),
  };
}

/** The split of the ear's training, by speaker. */
export function splitPeople<T extends Pick<PersonRow, 'source' | 'speaker' | 'seconds' | 'text'>>(
  rows: readonly T[],
): { held: T[]; trained: T[] } {
  const an4 = [
    ...new Set(rows.filter(({ source }) => source === 'an4').map(({ speaker }) => speaker)),
  ].sort();
  const heldSpeakers = new Set(an4.filter((_, at) => at % TEST_EVERY === 0));
  const usable = rows.filter(({ seconds, text }) => seconds <= LONGEST_SECONDS && /\p{L}/u.test(text));
  const trains = ({ source, speaker }: T): boolean =>
    (source === 'an4' && !heldSpeakers.has(speaker)) || source.startsWith('asterisk');
  return { held: usable.filter((row) => !trains(row)), trained: usable.filter(trains) };
}

function limited<T>(rows: readonly T[], limit: number): T[] {
  return sample(rows, rows.length, createRandom(SEED)).slice(0, limit);
}

/** Whether flite is there and has the voice that no training hears. */
function hasVoice(): boolean {
  const listed = spawnSync('flite', ['-lv'], { encoding: 'utf8' });
  return listed.status === 0 && /\bawb\b/.test(listed.stdout);
}

/** The question as a WAV file, spoken once and kept. */
function speak(text: string, cache: string): string {
  const folder = join(cache, 'spoken');
  const path = join(folder, `${createHash('sha256').update(text).digest('hex').slice(0, 20)}.wav`);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  // A text that begins with a dash would be read as an option.
  const part = `${path}.part`;
  const spoken = spawnSync('flite', ['-voice', 'awb', '-t', ` ${text}`, '-o', part], { encoding: 'utf8' });
  if (spoken.status !== 0) throw new Error(`flite could not speak a question: ${spoken.stderr}`);
  renameSync(part, path);
  return path;
}
