import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createSafetyCheck, SPEECH_MARGIN, SPEECH_THRESHOLD } from '../server/ground/safety.js';
import type { SafetyCheck } from '../server/ground/safety-check.js';
import { loadTextEncoder } from './load-text-encoder.js';
import { createRandom, sample } from './misspell.js';
import { ORDINARY_QUESTIONS, SAFETY_CASES } from './safety-cases.js';

/** Ordinary texts embedded for the check without words; all are taken for the check by words. */
const EMBEDDED = 3_000;
const SEED = 20_262;

export interface SafetyBenchOptions {
  /** Folder of shared data, for ordinary questions in number. */
  readonly data: string;
  /** Print every text that raised a false alarm by words. */
  readonly show: boolean;
}

/** Prints what the check finds in our own cases and how often it cries wolf on ordinary questions. */
export async function runSafetyBench({ data, show }: SafetyBenchOptions): Promise<void> {
  const textEncoder = await loadTextEncoder();
  const check = await createSafetyCheck({ textEncoder });
  const shared = await readQuestions(join(data, 'train', 'texts.jsonl'));
  const ordinary = [...ORDINARY_QUESTIONS, ...shared];
  const dangers = SAFETY_CASES.flatMap(([text, kind]) => (kind ? [text] : []));
  const calm = SAFETY_CASES.flatMap(([text, kind]) => (kind ? [] : [text]));

  console.log('check       texts                          n   alarms');
  const none = new Float32Array(0);
  const byWords = async (text: string): Promise<boolean> =>
    (await check.check({ text, vector: none })) !== null;
  await row('by words', 'our dangers (all should)', dangers, byWords);
  await row('by words', 'our calm cases', calm, byWords);
  const alarms = await row('by words', 'ordinary questions', ordinary, byWords);
  if (show) for (const text of alarms) console.log(`    ${text}`);
  if (!textEncoder) return;
  const bySound = await soundCheck(check, textEncoder.encode.bind(textEncoder));
  await row('by vector', 'our dangers', dangers, bySound);
  await row(
    'by vector',
    'our calm cases',
    calm.filter((text) => text !== ''),
    bySound,
  );
  const embedded = [...ORDINARY_QUESTIONS, ...sample(shared, EMBEDDED, createRandom(SEED))];
  const heard = await row('by vector', 'ordinary questions', embedded, bySound);
  if (show) for (const text of heard) console.log(`    ${text}`);
  console.log(
    `vector threshold ${SPEECH_THRESHOLD}, margin ${SPEECH_MARGIN}; vectors of the written texts stand for sound`,
  );
  await textEncoder.close();
}

async function soundCheck(
  check: SafetyCheck,
  encode: (texts: string[], role: 'query') => Promise<Float32Array[]>,
): Promise<(text: string) => Promise<boolean>> {
  return async (text) => {
    const [vector] = await encode([text], 'query');
    return (await check.check({ text: null, vector: vector ?? new Float32Array(0) })) !== null;
  };
}

async function row(
  name: string,
  texts: string,
  questions: readonly string[],
  alarm: (text: string) => Promise<boolean>,
): Promise<string[]> {
  const alarms: string[] = [];
  for (const question of questions) if (await alarm(question)) alarms.push(question);
  const rate = ((100 * alarms.length) / Math.max(1, questions.length)).toFixed(3);
  console.log(
    `${name.padEnd(12)}${texts.padEnd(26)}${String(questions.length).padStart(6)}${String(alarms.length).padStart(6)} (${rate} %)`,
  );
  return alarms;
}

async function readQuestions(path: string): Promise<string[]> {
  if (!existsSync(path)) {
    console.log(`No ${path}: only our own ordinary questions are measured.`);
    return [];
  }
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
  return lines.map((line) => (JSON.parse(line) as { text: string }).text);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const given = process.argv.indexOf('--data');
  const data = given > 0 ? process.argv[given + 1] : undefined;
  await runSafetyBench({ data: data ?? resolve('../shared/data'), show: process.argv.includes('--show') });
}
