import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import decodeAudio from 'audio-decode';
import { createResampler } from '../server/audio/resample.js';
import { windowsOf } from '../server/audio/windower.js';
import { createOnnxSpeechEncoder } from '../server/encode/onnx-speech-encoder.js';
import { openWeights } from '../server/encode/weights.js';
import { createWhisperTranscriber } from '../server/encode/whisper-transcriber.js';
import { createRandom, sample } from './misspell.js';
import { comparableWords, wordEdits } from './words-error.js';
import { packageRoot } from '../server/config.js';

/**
 * Word error of recorded people's speech: our decoder over the ear's features, beside faster-whisper (same Whisper base,
 * greedy, int8, padded to 30 s) when AUSCULT_PYTHON names a Python that has it. Both rows come from one run.
 */
const SEED = 20_264;
const ROOT = packageRoot();
/** Recordings that are not English, or whose transcript is known to be another text. */
const EXCLUDED = /_ja_|multilingual|common_voice/;
const MIN_WORDS = 4;
const MAX_SECONDS = 40;

interface Recording {
  readonly id: string;
  readonly audio: string;
  readonly seconds: number;
  readonly text: string;
  readonly source: string;
}

interface Heard {
  readonly text: string;
  readonly ms: number;
  /** Processor time over all threads: does not depend on what else the machine does. */
  readonly cpuMs: number;
}

interface Row {
  readonly system: string;
  readonly source: string;
  readonly n: number;
  readonly words: number;
  readonly wordError: number;
  readonly msPerRecording: number;
  readonly cpuMsPerRecording: number;
}

/** `--count` recordings (default 60), `--threads` of each model (default 2), `--data` folder. */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      count: { type: 'string', default: '60' },
      threads: { type: 'string', default: '2' },
      data: { type: 'string', default: resolve(ROOT, '../shared/data') },
      show: { type: 'boolean', default: false },
    },
  });
  const threads = Number(values.threads);
  const chosen = choose(await readRecordings(values.data), Number(values.count));
  const paths = chosen.map((recording) => resolve(values.data, recording.audio));
  console.log(`${chosen.length} recordings, ${threads} threads, seed ${SEED}`);
  const { words, encodeMs } = await hearWithOurs(paths, threads);
  const rows = toRows('ours: ear features + word decoder, int8', chosen, words);
  const rival = await hearWithFasterWhisper(paths, threads);
  if (rival) rows.push(...toRows('faster-whisper base, greedy, int8', chosen, rival));
  print(rows);
  console.log(
    `of ours, the ear's pass (shared with the speech vector): ${encodeMs.toFixed(0)} ms a recording`,
  );
  if (!rival) console.log('faster-whisper: not measured (set AUSCULT_PYTHON to a Python that has it)');
  if (values.show) showDifferences(chosen, words, rival);
  await keep({ seed: SEED, threads, encodeMs, rival: rival ? 'measured' : 'not measured', rows });
}

async function readRecordings(data: string): Promise<Recording[]> {
  const lines = (await readFile(resolve(data, 'speech', 'recordings.jsonl'), 'utf8')).trim().split('\n');
  return lines
    .map((line) => JSON.parse(line) as Recording)
    .filter(
      ({ id, text, seconds }) =>
        text.split(/\s+/).length >= MIN_WORDS && seconds <= MAX_SECONDS && !EXCLUDED.test(id),
    );
}

/** A seeded choice that gives every source its turn, so that the largest does not fill the sample. */
function choose(recordings: readonly Recording[], count: number): Recording[] {
  const random = createRandom(SEED);
  const sources = [...new Set(recordings.map((recording) => recording.source))].sort();
  const queues = sources.map((source) => {
    const own = recordings.filter((recording) => recording.source === source);
    return sample(own, own.length, random);
  });
  const chosen: Recording[] = [];
  for (let round = 0; chosen.length < count && queues.some((queue) => round < queue.length); round++) {
    for (const queue of queues) {
      const next = queue[round];
      if (next && chosen.length < count) chosen.push(next);
    }
  }
  return chosen;
}

async function hearWithOurs(
  paths: readonly string[],
  threads: number,
): Promise<{ words: Heard[]; encodeMs: number }> {
  const weights = openWeights(resolve(ROOT, 'models'));
  const encoder = await createOnnxSpeechEncoder({ weights, threads });
  const transcriber = await createWhisperTranscriber({ weights, threads });
  const words: Heard[] = [];
  let encodeMs = 0;
  // The first recording is heard twice; its first time warms up and is not counted.
  for (const [place, path] of [...paths.slice(0, 1), ...paths].entries()) {
    const samples = await readSamples(path);
    const windows = windowsOf(samples.length).map((w) => samples.slice(w.startSample, w.endSample));
    const start = performance.now();
    const cpu = process.cpuUsage();
    const encoded = await encoder.encode(windows);
    const between = performance.now();
    const { text } = await transcriber.transcribe(encoded);
    if (place === 0) continue;
    encodeMs += (between - start) / paths.length;
    const { user, system } = process.cpuUsage(cpu);
    words.push({ text, ms: performance.now() - start, cpuMs: (user + system) / 1_000 });
  }
  await encoder.close();
  await transcriber.close();
  return { words, encodeMs };
}

async function readSamples(path: string): Promise<Float32Array> {
  const { channelData, sampleRate } = await decodeAudio(await readFile(path));
  const resampler = await createResampler(sampleRate);
  const pieces = [resampler.push(channelData[0] ?? new Float32Array(0)), resampler.flush()];
  resampler.close();
  const samples = new Float32Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  samples.set(pieces[0] ?? []);
  samples.set(pieces[1] ?? [], pieces[0]?.length ?? 0);
  return samples;
}

/** Null when there is no Python with faster-whisper. */
async function hearWithFasterWhisper(paths: readonly string[], threads: number): Promise<Heard[] | null> {
  const python = process.env['AUSCULT_PYTHON'];
  if (!python || !existsSync(python)) return null;
  const child = spawn(python, ['-m', 'models.build.words_baseline'], {
    cwd: ROOT,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (output += piece));
  child.stdin.end(JSON.stringify({ threads, audio: paths }));
  const code = await new Promise((done) => child.on('close', done));
  if (code !== 0) return null;
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Heard);
}

function toRows(system: string, recordings: readonly Recording[], heard: readonly Heard[]): Row[] {
  const sources = [...new Set(recordings.map((recording) => recording.source))].sort();
  return ['all', ...sources].map((source) => {
    let words = 0;
    let edits = 0;
    let ms = 0;
    let cpuMs = 0;
    let n = 0;
    recordings.forEach((recording, at) => {
      if (source !== 'all' && recording.source !== source) return;
      const expected = comparableWords(recording.text);
      n++;
      words += expected.length;
      edits += wordEdits(expected, comparableWords(heard[at]?.text ?? ''));
      ms += heard[at]?.ms ?? 0;
      cpuMs += heard[at]?.cpuMs ?? 0;
    });
    return {
      system,
      source,
      n,
      words,
      wordError: edits / words,
      msPerRecording: ms / n,
      cpuMsPerRecording: cpuMs / n,
    };
  });
}

function print(rows: readonly Row[]): void {
  console.log(
    `${'system'.padEnd(42)}${'source'.padEnd(22)}${'n'.padStart(4)}${'words'.padStart(7)}${'word error'.padStart(12)}${'ms each'.padStart(9)}${'cpu ms'.padStart(8)}`,
  );
  for (const row of rows) {
    const figures = `${String(row.n).padStart(4)}${String(row.words).padStart(7)}${row.wordError.toFixed(3).padStart(12)}`;
    console.log(
      `${row.system.padEnd(42)}${row.source.padEnd(22)}${figures}${row.msPerRecording.toFixed(0).padStart(9)}${row.cpuMsPerRecording.toFixed(0).padStart(8)}`,
    );
  }
}

function showDifferences(
  recordings: readonly Recording[],
  ours: readonly Heard[],
  rival: Heard[] | null,
): void {
  recordings.forEach((recording, at) => {
    const expected = comparableWords(recording.text);
    if (wordEdits(expected, comparableWords(ours[at]?.text ?? '')) === 0) return;
    console.log(`${recording.id}\n  said   ${recording.text}\n  ours   ${ours[at]?.text ?? ''}`);
    if (rival) console.log(`  theirs ${rival[at]?.text ?? ''}`);
  });
}

async function keep(result: object): Promise<void> {
  const folder = resolve(ROOT, 'bench/results');
  await mkdir(folder, { recursive: true });
  await writeFile(resolve(folder, 'words.json'), `${JSON.stringify(result, null, 1)}\n`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href)
  await run(process.argv.slice(2));
