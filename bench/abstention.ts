import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EvidenceItem } from '../shared/evidence.js';
import type { ContractName } from '../shared/protocol.js';
import { splitSentences } from '../shared/sentences.js';
import type { TextEncoder } from '../server/encode/text-encoder.js';
import {
  ABSTAIN_BELOW,
  createExtractiveGenerator,
  estimateTokens,
} from '../server/generate/extractive-generator.js';
import { cosine } from '../server/generate/sentence-picker.js';
import { CONTRACTS, scoreAnswer } from '../server/prompt/contracts.js';
import { buildPrompt } from '../server/prompt/prompt-builder.js';
import { scoreSentences } from '../server/prompt/salience.js';
import { loadTextEncoder } from './load-text-encoder.js';

/**
 * Calibrates where the extractive generator abstains. Answerable: a question whose document is in the corpus. Unanswerable: the
 * same question with its document taken out (`hard`: the neighbours stay), and questions of other fields (`other`). The score is
 * the cosine of the best visible sentence, exactly what the generator compares with its threshold. Half of the questions choose
 * the threshold (largest sum of the shares of right answers and right abstentions, hard and other weighing alike), the other
 * half measures it. Also printed: yes / no / maybe over retrieved evidence, beside always saying the most frequent.
 */
export interface AbstentionBenchOptions {
  readonly data: string;
  /** Questions of each set. */
  readonly questions: number;
  /** Every n-th of the documents that no question asks for is in the corpus; 1 takes all. */
  readonly every: number;
}

interface Passage {
  readonly id: string;
  readonly doc: string;
  readonly text: string;
}
interface Question {
  readonly text: string;
  readonly docs: readonly string[];
  readonly answer?: string;
}
interface Corpus {
  readonly name: string;
  readonly passages: readonly Passage[];
  readonly vectors: readonly Float32Array[];
  readonly questions: readonly Question[];
}
interface Scores {
  readonly answerable: number[];
  readonly hard: number[];
  readonly other: number[];
}

export async function runAbstentionBench(options: AbstentionBenchOptions): Promise<void> {
  const loaded = await loadTextEncoder();
  if (loaded === null) return;
  const encoder = rememberVectors(loaded);
  const other = read<{ text: string; source: string }>(join(options.data, 'train/texts.jsonl'))
    .filter(({ source }) => source === 'nq-open')
    .slice(0, options.questions)
    .map(({ text }) => ({
      text: `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\??$/, '?')}`,
      docs: [],
    }));
  const all: Scores[] = [];
  for (const corpus of [await pubmedqa(options, encoder), await medquad(options, encoder)]) {
    const scores = await scoreCorpus(corpus, other, encoder);
    all.push(scores);
    report(corpus.name, scores);
    if (corpus.questions.some(({ answer }) => answer !== undefined)) await yesNoMaybe(corpus, encoder);
  }
  report('both', {
    answerable: all.flatMap((scores) => scores.answerable),
    hard: all.flatMap((scores) => scores.hard),
    other: all.flatMap((scores) => scores.other),
  });
  await encoder.close();
}

async function pubmedqa(
  { data, questions, every }: AbstentionBenchOptions,
  encoder: TextEncoder,
): Promise<Corpus> {
  const folder = join(data, 'retrieval/pubmedqa');
  const asked = read<{ text: string; relevantDocs: string[]; answer: string }>(join(folder, 'queries.jsonl'))
    .slice(0, questions)
    .map(({ text, relevantDocs, answer }) => ({ text, docs: relevantDocs, answer }));
  const wanted = new Set(asked.flatMap(({ docs }) => docs));
  const passages = read<Passage>(join(folder, 'corpus.jsonl')).filter(
    ({ doc }, index) => wanted.has(doc) || index % every === 0,
  );
  return { name: 'PubMedQA', passages, vectors: await encodeAll(passages, encoder), questions: asked };
}

/** MedQuAD, each document cut to 700 characters: about one passage as ingest makes them. */
async function medquad(
  { data, questions, every }: AbstentionBenchOptions,
  encoder: TextEncoder,
): Promise<Corpus> {
  const folder = join(data, 'retrieval/medquad');
  const asked = read<{ text: string; relevantDocs: string[] }>(join(folder, 'queries.jsonl'))
    .slice(0, questions)
    .map(({ text, relevantDocs }) => ({ text, docs: relevantDocs }));
  const wanted = new Set(asked.flatMap(({ docs }) => docs));
  const passages = read<{ id: string; text: string }>(join(folder, 'corpus.jsonl'))
    .filter(({ id }, index) => wanted.has(id) || index % (8 * every) === 0)
    .map(({ id, text }) => ({ id, doc: id, text: text.slice(0, 700) }));
  return { name: 'MedQuAD', passages, vectors: await encodeAll(passages, encoder), questions: asked };
}

async function scoreCorpus(
  corpus: Corpus,
  other: readonly Question[],
  encoder: TextEncoder,
): Promise<Scores> {
  const scores: Scores = { answerable: [], hard: [], other: [] };
  for (const question of corpus.questions) {
    scores.answerable.push(await bestSentence(question, corpus, { encoder, without: [] }));
    scores.hard.push(await bestSentence(question, corpus, { encoder, without: question.docs }));
  }
  for (const question of other)
    scores.other.push(await bestSentence(question, corpus, { encoder, without: [] }));
  return scores;
}

interface Setting {
  readonly encoder: TextEncoder;
  /** Documents taken out of the corpus. */
  readonly without: readonly string[];
}

async function bestSentence(question: Question, corpus: Corpus, setting: Setting): Promise<number> {
  const prompt = await promptFor(question, corpus, { ...setting, contract: 'open' });
  const sentences = prompt.visible
    .flatMap(({ snippet }) => splitSentences(snippet).map(({ text }) => text))
    .filter((text) => !text.endsWith('?'));
  const vectors = await setting.encoder.encode(sentences, 'passage');
  return Math.max(-1, ...vectors.map((vector) => cosine(vector, prompt.questionVector)));
}

async function promptFor(
  question: Question,
  corpus: Corpus,
  setting: Setting & { readonly contract: ContractName },
) {
  const [vector = new Float32Array(setting.encoder.dimensions)] = await setting.encoder.encode(
    [question.text],
    'query',
  );
  const evidence = corpus.passages
    .map((passage, index) => ({ passage, score: cosine(vector, corpus.vectors[index] ?? vector) }))
    .filter(({ passage }) => !setting.without.includes(passage.doc))
    .sort((a, b) => b.score - a.score)
    .slice(0, 8)
    .map(({ passage, score }, index) => asEvidence(passage, score, index + 1));
  const salience = await scoreSentences({ evidence, questionVector: vector, textEncoder: setting.encoder });
  return buildPrompt(
    {
      contract: setting.contract,
      question: question.text,
      choices: [],
      questionVector: vector,
      evidence,
      contrasts: [],
    },
    { countTokens: estimateTokens, salience },
  );
}

function asEvidence({ id, doc, text }: Passage, score: number, rank: number): EvidenceItem {
  return {
    id,
    rank,
    store: 'passages',
    documentId: doc,
    title: '',
    text,
    score,
    rawScore: score,
    normalisedScore: 0,
    querySource: 'user_text',
    matchedWindow: null,
    span: { start: 0, end: text.length },
  };
}

async function yesNoMaybe(corpus: Corpus, encoder: TextEncoder): Promise<void> {
  const generator = createExtractiveGenerator({ textEncoder: encoder, abstainBelow: { text: -1 } });
  const counts = { right: 0, total: 0, yes: 0 };
  for (const question of corpus.questions) {
    const prompt = await promptFor(question, corpus, { encoder, without: [], contract: 'yes_no_maybe' });
    let answer = '';
    for await (const chunk of generator.generate(prompt, new AbortController().signal)) answer += chunk.text;
    const gold = question.answer ?? '';
    counts.total += 1;
    counts.right += scoreAnswer(CONTRACTS.yes_no_maybe.parse(answer, 0), gold) ? 1 : 0;
    counts.yes += gold === 'yes' ? 1 : 0;
  }
  console.log(
    `yes/no/maybe by cue words: ${share(counts.right, counts.total)} right of ${String(counts.total)}; always yes: ${share(counts.yes, counts.total)}`,
  );
}

function report(name: string, scores: Scores): void {
  const [fit, held] = [half(scores, 0), half(scores, 1)];
  const thresholds = Array.from({ length: 71 }, (_, index) => 0.15 + index * 0.01);
  const chosen = thresholds.reduce((a, b) => (quality(fit, b) > quality(fit, a) ? b : a));
  console.log(
    `\n${name}: ${String(scores.answerable.length)} answerable, ${String(scores.hard.length)} without their document, ${String(scores.other.length)} of other fields`,
  );
  console.log('threshold  answers  abstains(hard)  abstains(other)   [held-out half]');
  const rows = [0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8, chosen, ABSTAIN_BELOW.text];
  for (const threshold of [...new Set(rows)].sort((a, b) => a - b)) {
    const mark =
      threshold === chosen
        ? ' ← chosen on the other half'
        : threshold === ABSTAIN_BELOW.text
          ? ' ← shipped'
          : '';
    console.log(
      `${threshold.toFixed(2).padStart(9)}  ${over(held.answerable, threshold).padStart(7)}  ${under(held.hard, threshold).padStart(14)}  ${under(held.other, threshold).padStart(15)}${mark}`,
    );
  }
}

/** Share answered plus share abstained, both kinds of unanswerable weighing alike; 2 is perfect. */
function quality({ answerable, hard, other }: Scores, threshold: number): number {
  const below = (values: readonly number[]): number =>
    values.filter((value) => value < threshold).length / values.length;
  return 1 - below(answerable) + (below(hard) + below(other)) / 2;
}

function half(scores: Scores, parity: 0 | 1): Scores {
  const pick = (values: readonly number[]): number[] => values.filter((_, index) => index % 2 === parity);
  return { answerable: pick(scores.answerable), hard: pick(scores.hard), other: pick(scores.other) };
}

function over(values: readonly number[], threshold: number): string {
  return share(values.filter((value) => value >= threshold).length, values.length);
}

function under(values: readonly number[], threshold: number): string {
  return share(values.filter((value) => value < threshold).length, values.length);
}

function share(part: number, whole: number): string {
  return (part / Math.max(1, whole)).toFixed(3);
}

async function encodeAll(passages: readonly Passage[], encoder: TextEncoder): Promise<Float32Array[]> {
  const vectors: Float32Array[] = [];
  for (let at = 0; at < passages.length; at += 32) {
    const batch = passages.slice(at, at + 32).map(({ text }) => text);
    vectors.push(...(await encoder.encode(batch, 'passage')));
  }
  return vectors;
}

/** Sentences come back in many lists; each is encoded once. */
function rememberVectors(encoder: TextEncoder): TextEncoder {
  const known = new Map<string, Float32Array>();
  return {
    dimensions: encoder.dimensions,
    modelId: encoder.modelId,
    async encode(texts, role, signal) {
      const missing = [...new Set(texts)].filter((text) => !known.has(text));
      for (let at = 0; at < missing.length; at += 32) {
        const batch = missing.slice(at, at + 32);
        const vectors = await encoder.encode(batch, role, signal);
        batch.forEach((text, index) =>
          known.set(text, vectors[index] ?? new Float32Array(encoder.dimensions)),
        );
      }
      return texts.map((text) => known.get(text) ?? new Float32Array(encoder.dimensions));
    },
    close: () => encoder.close(),
  };
}

function read<T>(path: string): T[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const value = (name: string, otherwise: string): string => {
    const at = process.argv.indexOf(name);
    return (at < 0 ? undefined : process.argv[at + 1]) ?? otherwise;
  };
  await runAbstentionBench({
    data: resolve(value('--data', '../shared/data')),
    questions: Number(value('--questions', '200')),
    every: Number(value('--every', '1')),
  });
}
