import { mkdirSync, writeFileSync } from 'node:fs';
import { createLogMel } from '../server/encode/log-mel.js';
import { createOnnxSpeechEncoder } from '../server/encode/onnx-speech-encoder.js';
import { createOnnxTextEncoder } from '../server/encode/onnx-text-encoder.js';
import { openWeights } from '../server/encode/weights.js';

/** What one stage costs: `wallMs` as waited for, `cpuMs` over all threads (does not depend on what else the machine does). */
interface Row {
  readonly stage: string;
  readonly wallMs: number;
  readonly cpuMs: number;
}

const BUCKETS_S = [2, 3, 4, 6, 8] as const;
const QUESTION = 'Does a low dose of aspirin prevent a second stroke in people over seventy?';

/**
 * Milliseconds of log-mel and ear for each bucket and of the text encoder for a question, and how many text queries one window
 * costs. `--runs N` (default 15), `--threads N` (default 2), `--json` writes bench/results/encode.json.
 */
export async function run(args: readonly string[]): Promise<number> {
  const runs = numberOf(args, '--runs', 15);
  const threads = numberOf(args, '--threads', 2);
  const weights = openWeights('models');
  const text = await createOnnxTextEncoder({ weights, threads, thread: 'main' });
  const ear = await createOnnxSpeechEncoder({ weights, threads, thread: 'main' });
  const rows: Row[] = [
    await measure('text query', runs, async () => text.encode([QUESTION], 'query')),
    ...(await melRows(runs)),
  ];
  for (const seconds of BUCKETS_S) {
    rows.push(await measure(`ear ${seconds} s`, runs, async () => ear.encode([sound(seconds)])));
  }
  print(rows, threads);
  if (args.includes('--json')) {
    mkdirSync('bench/results', { recursive: true });
    writeFileSync('bench/results/encode.json', JSON.stringify({ threads, runs, rows }, null, 2));
  }
  await Promise.all([text.close(), ear.close()]);
  return 0;
}

async function melRows(runs: number): Promise<Row[]> {
  const logMel = createLogMel();
  const rows: Row[] = [];
  for (const seconds of BUCKETS_S) {
    const out = new Float32Array(80 * seconds * 100);
    const samples = sound(seconds);
    rows.push(
      await measure(`log-mel ${seconds} s`, runs, async () =>
        logMel.write(samples, samples.length, { out, offset: 0 }),
      ),
    );
  }
  return rows;
}

/** Medians over `runs`, after three that warm up. */
async function measure(stage: string, runs: number, work: () => Promise<unknown>): Promise<Row> {
  for (let n = 0; n < 3; n += 1) await work();
  const wall: number[] = [];
  const cpu: number[] = [];
  for (let n = 0; n < runs; n += 1) {
    const [startedMs, before] = [performance.now(), process.cpuUsage()];
    await work();
    const used = process.cpuUsage(before);
    wall.push(performance.now() - startedMs);
    cpu.push((used.user + used.system) / 1_000);
  }
  return { stage, wallMs: median(wall), cpuMs: median(cpu) };
}

function print(rows: readonly Row[], threads: number): void {
  const query = rows.find((row) => row.stage === 'text query')?.cpuMs ?? Number.NaN;
  process.stdout.write(`Encoding on ${threads} thread(s), medians; ear rows include log-mel\n`);
  process.stdout.write(
    `${'stage'.padEnd(14)}${'wall ms'.padStart(10)}${'cpu ms'.padStart(10)}${'× query'.padStart(10)}\n`,
  );
  for (const { stage, wallMs, cpuMs } of rows) {
    const columns = [wallMs.toFixed(1), cpuMs.toFixed(1), (cpuMs / query).toFixed(2)];
    process.stdout.write(`${stage.padEnd(14)}${columns.map((column) => column.padStart(10)).join('')}\n`);
  }
}

/** A harmonic glide: what is computed does not depend on what is heard. */
function sound(seconds: number): Float32Array {
  return Float32Array.from({ length: seconds * 16_000 }, (_, n) => {
    const phase = n * 0.05 + 3 * Math.sin(n / 2_000);
    return 0.2 * (Math.sin(phase) + 0.5 * Math.sin(3 * phase));
  });
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

function numberOf(args: readonly string[], name: string, fallback: number): number {
  const value = Number(args[args.indexOf(name) + 1]);
  return args.includes(name) && Number.isInteger(value) && value > 0 ? value : fallback;
}
