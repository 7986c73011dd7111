import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createUsearchStore, loadUsearchStore } from '../server/retrieve/usearch-store.js';
import type { UsearchStore } from '../server/retrieve/usearch-store.js';

/** Claim: a million passages are searched in 5 ms at the 99th percentile, with 0.97 of the true neighbours. */

const DIMENSIONS = 384;
/** Passages about one subject, as a cluster; about fifty abstracts share a narrow subject in the medical corpora. */
const CLUSTER_SIZE = 50;
const MODEL_ID = 'bench';
const BATCH = 2_000;

interface Settings {
  readonly n: number;
  readonly queries: number;
  readonly threads: number;
  readonly scalar: 'f16' | 'f32';
  readonly connectivity: number;
  readonly expansionAdd: number;
  readonly expansions: readonly number[];
  readonly seed: number;
}

interface Row {
  readonly n: number;
  readonly scalar: string;
  readonly expansionSearch: number;
  readonly recall10: number;
  readonly recall50: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of one search: unlike the wall clock it does not grow when other work shares the machine. */
  readonly cpuMs: number;
}

function readSettings(args: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      n: { type: 'string', default: '100000' },
      queries: { type: 'string', default: '1000' },
      threads: { type: 'string', default: '0' },
      scalar: { type: 'string', default: 'f16' },
      connectivity: { type: 'string', default: '16' },
      'expansion-add': { type: 'string', default: '128' },
      expansions: { type: 'string', default: '64,128,256' },
      seed: { type: 'string', default: '1' },
    },
  });
  return {
    n: Number(values.n),
    queries: Number(values.queries),
    threads: Number(values.threads),
    scalar: values.scalar === 'f32' ? 'f32' : 'f16',
    connectivity: Number(values.connectivity),
    expansionAdd: Number(values['expansion-add']),
    expansions: values.expansions.split(',').map(Number),
    seed: Number(values.seed),
  };
}

/** Mulberry32: small, seeded, good enough for test data. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Writes a unit vector of random direction, or one at about 45 degrees from `centre`, so that siblings are at 60. */
function fill(target: Float32Array, random: () => number, centre?: Float32Array): void {
  const scale = 2 / Math.sqrt(DIMENSIONS);
  let squares = 0;
  for (let index = 0; index < DIMENSIONS; index++) {
    // Three uniform numbers: variance 1/4, near enough to a normal one.
    const noise = (random() + random() + random() - 1.5) * scale;
    const value = (centre?.[index] ?? 0) + noise;
    target[index] = value;
    squares += value * value;
  }
  const length = Math.sqrt(squares);
  for (let index = 0; index < DIMENSIONS; index++) target[index] = (target[index] ?? 0) / length;
}

interface Data {
  readonly matrix: Float32Array;
  readonly questions: readonly Float32Array[];
}

function makeData(settings: Settings): Data {
  const random = createRandom(settings.seed);
  const clusters = Math.max(1, Math.round(settings.n / CLUSTER_SIZE));
  const centres = new Float32Array(clusters * DIMENSIONS);
  const centreAt = (index: number) => centres.subarray(index * DIMENSIONS, (index + 1) * DIMENSIONS);
  for (let index = 0; index < clusters; index++) fill(centreAt(index), random);
  const pick = () => centreAt(Math.floor(random() * clusters));
  const matrix = new Float32Array(settings.n * DIMENSIONS);
  for (let row = 0; row < settings.n; row++) {
    fill(matrix.subarray(row * DIMENSIONS, (row + 1) * DIMENSIONS), random, pick());
  }
  const questions = Array.from({ length: settings.queries }, () => {
    const question = new Float32Array(DIMENSIONS);
    fill(question, random, pick());
    return question;
  });
  return { matrix, questions };
}

/** Rows of the `k` true neighbours, best first, by comparing with all of them. */
function trueNeighbours(matrix: Float32Array, question: Float32Array, k: number): number[] {
  const best: Array<{ row: number; score: number }> = [];
  for (let row = 0, offset = 0; offset < matrix.length; row++, offset += DIMENSIONS) {
    let score = 0;
    for (let index = 0; index < DIMENSIONS; index++) score += matrix[offset + index]! * question[index]!;
    const worst = best[k - 1];
    if (worst && score <= worst.score) continue;
    best.push({ row, score });
    best.sort((a, b) => b.score - a.score);
    if (best.length > k) best.pop();
  }
  return best.map(({ row }) => row);
}

async function build(settings: Settings, matrix: Float32Array): Promise<UsearchStore> {
  const { scalar, threads, connectivity, expansionAdd } = settings;
  const options = { dimensions: DIMENSIONS, modelId: MODEL_ID, scalar, threads, connectivity, expansionAdd };
  const store = await createUsearchStore(options);
  for (let from = 0; from < settings.n; from += BATCH) {
    const count = Math.min(BATCH, settings.n - from);
    const add = Array.from({ length: count }, (_, index) => {
      const key = from + index;
      return { key, vector: matrix.subarray(key * DIMENSIONS, (key + 1) * DIMENSIONS) };
    });
    store.write({ add });
    if (from % (BATCH * 25) === 0) console.error(`built ${from + count} of ${settings.n}`);
  }
  return store;
}

function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

function measure(store: UsearchStore, data: Data, truth: ReadonlyArray<readonly number[]>) {
  for (const question of data.questions.slice(0, 100)) store.search(question, 50);
  const times: number[] = [];
  const cpuBefore = process.cpuUsage();
  let found10 = 0;
  let found50 = 0;
  data.questions.forEach((question, index) => {
    const startMs = performance.now();
    const keys = store.search(question, 50).map((hit) => hit.key);
    times.push(performance.now() - startMs);
    const right = truth[index];
    if (!right) return;
    const first10 = new Set(right.slice(0, 10));
    const first50 = new Set(right);
    found10 += keys.slice(0, 10).filter((key) => first10.has(key)).length;
    found50 += keys.filter((key) => first50.has(key)).length;
  });
  const { user, system } = process.cpuUsage(cpuBefore);
  times.sort((a, b) => a - b);
  return {
    cpuMs: (user + system) / 1000 / times.length,
    recall10: found10 / (truth.length * 10),
    recall50: found50 / (truth.length * 50),
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
  };
}

const round = (value: number, digits: number) => Number(value.toFixed(digits));
const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20);

/** Prints recall against exact search, search times, build time and memory; writes bench/results/index-scale-N.json. */
export async function run(args: readonly string[]): Promise<void> {
  const settings = readSettings(args);
  const folder = await mkdtemp(join(tmpdir(), 'auscult-index-scale-'));
  try {
    const data = makeData(settings);
    const before = process.memoryUsage().rss;
    const startMs = performance.now();
    const built = await build(settings, data.matrix);
    const buildSeconds = (performance.now() - startMs) / 1000;
    const indexMegabytes = megabytes(process.memoryUsage().rss - before);
    const path = join(folder, 'scale.usearch');
    await built.save(path, 1);
    // Truth for 200 questions: exact search of a million takes about a second each.
    const truth = data.questions.slice(0, 200).map((one) => trueNeighbours(data.matrix, one, 50));
    const rows: Row[] = [];
    let loadSeconds = 0;
    for (const expansionSearch of settings.expansions) {
      const loadStartMs = performance.now();
      // Loaded from its file each time, as a server does.
      const store = await loadUsearchStore(path, {
        dimensions: DIMENSIONS,
        modelId: MODEL_ID,
        expansionSearch,
      });
      loadSeconds = (performance.now() - loadStartMs) / 1000;
      const measured = measure(store, data, truth);
      rows.push({
        n: settings.n,
        scalar: settings.scalar,
        expansionSearch,
        recall10: round(measured.recall10, 4),
        recall50: round(measured.recall50, 4),
        p50Ms: round(measured.p50Ms, 2),
        p99Ms: round(measured.p99Ms, 2),
        cpuMs: round(measured.cpuMs, 3),
      });
    }
    const whole = {
      settings,
      buildSeconds: round(buildSeconds, 1),
      loadSeconds: round(loadSeconds, 1),
      indexMegabytes,
      rows,
    };
    console.table(rows);
    console.log(
      `build ${whole.buildSeconds} s (${settings.threads === 0 ? 'all' : settings.threads} threads), load with hash check ${whole.loadSeconds} s, index in memory ${indexMegabytes} MiB`,
    );
    await mkdir('bench/results', { recursive: true });
    await writeFile(`bench/results/index-scale-${settings.n}.json`, `${JSON.stringify(whole, null, 2)}\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
