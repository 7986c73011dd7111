import { createReadStream, existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { supportLabel, type EvidenceItem, type SupportLabel } from '../shared/evidence.js';
import { splitSentences } from '../shared/sentences.js';
import type { TextEncoder } from '../server/encode/text-encoder.js';
import { estimateTokens } from '../server/generate/extractive-generator.js';
import { createLlamaChatModel } from '../server/generate/llama-generator.js';
import { CONTRACTS, describeParsed } from '../server/prompt/contracts.js';
import { buildPrompt } from '../server/prompt/prompt-builder.js';
import { createHeuristicJudge } from '../server/refine/heuristic-judge.js';
import type { Judge } from '../server/refine/judge.js';
import { createRubricJudge } from '../server/refine/rubric-judge.js';
import { unsafeReason } from '../server/refine/unsafe.js';
import { JUDGE_CASES, type JudgeCase } from '../test/fixtures/judge-cases.js';
import { loadTextEncoder } from './load-text-encoder.js';

/**
 * Agreement of the judges with hand-labelled cases, and Cohen's kappa (Cohen 1960): agreement beyond what the labels' own
 * frequencies give. Thresholds of the heuristic judge were set with these cases in sight, so its figure is an upper bound.
 * Also: how often the rules for UNSAFE fire on what health institutes write, where no sentence is meant to be withheld.
 */
export interface JudgeBenchOptions {
  readonly data: string;
  /** GGUF for the rubric judge; without it only the heuristic judge is measured. */
  readonly llamaModel?: string;
}

export async function runJudgeBench(options: JudgeBenchOptions): Promise<void> {
  const encoder = await loadTextEncoder();
  if (encoder === null) return;
  await measure(createHeuristicJudge({ textEncoder: encoder }), encoder, JUDGE_CASES);
  if (options.llamaModel === undefined)
    console.log('\nrubric judge: not measured, no model given (--llama FILE)');
  else {
    const model = await createLlamaChatModel({ modelPath: options.llamaModel });
    await measure(createRubricJudge({ model }), encoder, JUDGE_CASES);
    await model.close();
  }
  await falseAlarms(join(options.data, 'retrieval/medquad/corpus.jsonl'));
  await encoder.close();
}

async function measure(judge: Judge, encoder: TextEncoder, cases: readonly JudgeCase[]): Promise<void> {
  const pairs: { wanted: SupportLabel; given: SupportLabel; judged: JudgeCase }[] = [];
  for (const judged of cases) {
    const given = (await judgeCase(judge, encoder, judged)).label;
    pairs.push({ wanted: judged.label, given, judged });
  }
  const agreed = pairs.filter(({ wanted, given }) => wanted === given).length / pairs.length;
  console.log(
    `\n${judge.id}: agreement ${agreed.toFixed(3)}, kappa ${kappa(pairs).toFixed(3)}, ${String(pairs.length)} cases`,
  );
  console.log(`${'by hand ↓'.padEnd(14)}${supportLabel.options.map((label) => label.padStart(13)).join('')}`);
  for (const wanted of supportLabel.options) {
    const row = supportLabel.options.map(
      (given) => pairs.filter((pair) => pair.wanted === wanted && pair.given === given).length,
    );
    console.log(`${wanted.padEnd(14)}${row.map((count) => String(count).padStart(13)).join('')}`);
  }
  for (const { wanted, given, judged } of pairs)
    if (wanted !== given) console.log(`  ${wanted} judged ${given} (${judged.kind}): ${judged.answer}`);
}

async function judgeCase(judge: Judge, encoder: TextEncoder, judged: JudgeCase) {
  const contract = judged.contract ?? 'open';
  const [questionVector = new Float32Array(encoder.dimensions)] = await encoder.encode(
    [judged.question],
    'query',
  );
  const prompt = buildPrompt(
    {
      contract,
      question: judged.question,
      choices: judged.choices ?? [],
      questionVector,
      evidence: judged.texts.map(asEvidence),
      contrasts: [],
    },
    { countTokens: estimateTokens },
  );
  const text = contract === 'open' ? `Answer: ${judged.answer}\nEvidence: [E1]` : judged.answer;
  const { parsed, abstained } = describeParsed(CONTRACTS[contract].parse(text, prompt.choices.length));
  const chunks = [{ text, evidenceIds: prompt.visible.slice(0, 1).map(({ id }) => id) }];
  return judge.judge({ text, chunks, parsed, abstained }, prompt, new AbortController().signal);
}

function asEvidence(text: string, index: number): EvidenceItem {
  return {
    id: `d${String(index + 1)}`,
    rank: index + 1,
    store: 'passages',
    documentId: `d${String(index + 1)}`,
    title: '',
    text,
    score: 1,
    rawScore: 1,
    normalisedScore: 0,
    querySource: 'user_text',
    matchedWindow: null,
    span: { start: 0, end: text.length },
  };
}

function kappa(pairs: ReadonlyArray<{ wanted: SupportLabel; given: SupportLabel }>): number {
  const rate = (test: (pair: (typeof pairs)[number]) => boolean): number =>
    pairs.filter(test).length / pairs.length;
  const observed = rate(({ wanted, given }) => wanted === given);
  const chance = supportLabel.options.reduce(
    (sum, label) => sum + rate(({ wanted }) => wanted === label) * rate(({ given }) => given === label),
    0,
  );
  return chance === 1 ? 1 : (observed - chance) / (1 - chance);
}

async function falseAlarms(path: string): Promise<void> {
  if (!existsSync(path)) return console.log('\nfalse alarms of UNSAFE: not measured, no MedQuAD corpus');
  const counts = { sentences: 0, flagged: 0 };
  for await (const line of createInterface({ input: createReadStream(path) })) {
    for (const { text } of splitSentences((JSON.parse(line) as { text: string }).text.slice(0, 2_000))) {
      counts.sentences += 1;
      if (unsafeReason(text) !== null) counts.flagged += 1;
    }
  }
  console.log(
    `\nUNSAFE by rule: ${String(counts.flagged)} of ${String(counts.sentences)} sentences of MedQuAD (${((100 * counts.flagged) / counts.sentences).toFixed(3)} %)`,
  );
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const value = (name: string): string | undefined => {
    const at = process.argv.indexOf(name);
    return at < 0 ? undefined : process.argv[at + 1];
  };
  const llamaModel = value('--llama');
  await runJudgeBench({
    data: resolve(value('--data') ?? '../shared/data'),
    ...(llamaModel === undefined ? {} : { llamaModel }),
  });
}
