import { basename } from 'node:path';
import type { ContractName } from '../shared/protocol.js';
import { plain, readRows } from './data.js';
import { createRandom, sample } from './misspell.js';

/** One written question with its contract, as a turn takes it. */
export interface AskedQuestion {
  readonly id: string;
  readonly text: string;
  readonly choices: readonly string[];
  readonly contract: ContractName;
  /** Letter, or yes / no / maybe; null where no answer can be compared by equality. */
  readonly gold: string | null;
  /** Questions of the same words form one cluster. */
  readonly cluster: string;
}

interface QuestionRow {
  readonly id: string;
  readonly question: string;
  readonly answer?: string;
  readonly options?: Readonly<Record<string, string>>;
  readonly exact?: unknown;
  readonly type?: string;
}

const SEED = 20_267;
const VERDICTS: ReadonlySet<string> = new Set(['yes', 'no', 'maybe']);

/** A seeded choice of the file's questions; a smaller limit takes a part of the larger one's. */
export async function readQuestions(path: string, limit: number): Promise<AskedQuestion[]> {
  const rows = await readRows<QuestionRow>(path);
  return sample(rows, rows.length, createRandom(SEED)).slice(0, limit).map(toQuestion);
}

/** Options → exam; an answer that is yes, no or maybe → that contract; anything else is open and has no gold label. */
export function toQuestion(row: QuestionRow): AskedQuestion {
  const { id, question: text } = row;
  const cluster = plain(text);
  const letters = Object.keys(row.options ?? {}).sort();
  if (row.options && letters.length > 0) {
    const choices = letters.map((letter) => row.options?.[letter] ?? '');
    return { id, text, choices, contract: 'exam', gold: row.answer ?? null, cluster };
  }
  const verdict = (row.answer ?? (typeof row.exact === 'string' ? row.exact : '')).trim().toLowerCase();
  if (VERDICTS.has(verdict))
    return { id, text, choices: [], contract: 'yes_no_maybe', gold: verdict, cluster };
  return { id, text, choices: [], contract: 'open', gold: null, cluster };
}

/** The corpus that a question file is asked against, under the folder `retrieval`. */
export function corpusOf(path: string): 'pubmedqa' | 'bioasq' | 'medquad' {
  const name = basename(path);
  if (name.startsWith('pubmedqa')) return 'pubmedqa';
  return name.startsWith('bioasq') ? 'bioasq' : 'medquad';
}
