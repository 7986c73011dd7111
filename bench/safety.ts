import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TextEncoder } from '../server/encode/text-encoder.js';
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
  await sweep(textEncoder, { dangers, calm: calm.filter((text) => text !== ''), ordinary: embedded });
  await textEncoder.close();
}

/** Share of ordinary questions that may raise the alarm without words. */
const MAX_FALSE_ALARMS = 1 / 1_000;

/** For every threshold and margin that cries wolf rarely enough, what it finds: from these the two constants are chosen. */
async function sweep(
  textEncoder: TextEncoder,
  texts: { readonly dangers: string[]; readonly calm: string[]; readonly ordinary: string[] },
): Promise<void> {
  const embed = (list: string[]): Promise<Float32Array[]> => textEncoder.encode(list, 'query');
  const [dangers, calm, ordinary] = [
    await embed(texts.dangers),
    await embed(texts.calm),
    await embed(texts.ordinary),
  ];
  console.log('threshold   margin   dangers   calm   ordinary');
  for (const threshold of [0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7]) {
    for (const margin of [0, 0.05, 0.1, 0.15, 0.2]) {
      const check = await createSafetyCheck({ textEncoder, speech: { threshold, margin } });
      const count = async (vectors: Float32Array[]): Promise<number> => {
        const found = await Promise.all(vectors.map((vector) => check.check({ text: null, vector })));
        return found.filter((notice) => notice !== null).length;
      };
      const alarms = await count(ordinary);
      if (alarms > MAX_FALSE_ALARMS * ordinary.length) continue;
      const cells = [threshold, margin, await count(dangers), await count(calm), alarms];
      console.log(cells.map((cell) => String(cell).padEnd(11)).join(''));
    }
  }
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

/** `--data FOLDER`, `--show` for the texts that raised a false alarm. */
export async function run(args: readonly string[]): Promise<void> {
  const data = args.includes('--data') ? args[args.indexOf('--data') + 1] : undefined;
  await runSafetyBench({ data: data ?? resolve('../shared/data'), show: args.includes('--show') });
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await run(process.argv.slice(2));
}
