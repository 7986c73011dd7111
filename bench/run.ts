import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Claims that can be measured: a file here that exports `run`. The others are parts of them. */
const CLAIMS: Readonly<Record<string, string>> = {
  abstention: 'where the extractive generator declines',
  encode: 'milliseconds of every stage of the ear',
  entities: 'precision and recall of corrections; --speed for the index',
  fusion: 'z-scores, ranks and raw scores, merged from two stores',
  'index-scale': 'search time and recall of a large index',
  judge: 'agreement of the judges with labels by hand',
  load: 'many live sessions at once',
  recall: 'what the ear finds beside the written question',
  rounds: 'what each round costs and buys',
  safety: 'false alarms of the emergency notice',
  words: 'word error of the transcriber',
};

interface Bench {
  run(args: readonly string[]): Promise<void> | Promise<number>;
}

/** Runs one claim's bench; without a name, lists them. Returns the exit code. */
export async function runBench(name: string | undefined, args: readonly string[]): Promise<number> {
  const folder = dirname(fileURLToPath(import.meta.url));
  const present = new Set(readdirSync(folder).map((file) => file.replace(/\.[jt]s$/, '')));
  if (name === undefined || !(name in CLAIMS) || !present.has(name)) {
    const lines = Object.entries(CLAIMS)
      .filter(([claim]) => present.has(claim))
      .map(([claim, what]) => `  ${claim.padEnd(12)} ${what}`);
    process.stderr.write(`Benches, as \`npm run bench -- NAME\`:\n${lines.join('\n')}\n`);
    return name === undefined ? 0 : 1;
  }
  const bench = (await import(`./${name}.js`)) as Bench;
  return (await bench.run(args)) ?? 0;
}
