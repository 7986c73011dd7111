import type { EvidenceItem } from '../../shared/evidence.js';
import { createSystemClock } from '../clock.js';
import { composeEncoders, composeIndex } from '../compose.js';
import type { Config } from '../config.js';
import { createVectorRetriever } from '../retrieve/vector-retriever.js';

export interface SearchOptions {
  readonly text: string;
  /** Results, 1 … 50. */
  readonly k: number;
  readonly json: boolean;
  readonly config: Config;
  readonly print: (line: string) => void;
}

const SNIPPET_CHARACTERS = 160;

/** Words and vectors of a text against both stores: one evidence item a line. Throws `index_missing` without an index. */
export async function runSearch(options: SearchOptions): Promise<void> {
  const encoders = await composeEncoders(options.config);
  try {
    const index = await composeIndex(options.config, encoders, { mustExist: true });
    try {
      const retriever = await createVectorRetriever({ ...index, clock: createSystemClock() });
      const vectors = await encoders.textEncoder.encode([options.text], 'query');
      const k = Math.min(50, Math.max(1, Math.trunc(options.k)));
      const { items } = await retriever.retrieve({
        queries: [{ source: 'user_text', text: options.text, vectors }],
        settings: { k, fusion: 'zscore', maxRounds: 1 },
      });
      for (const item of items) options.print(options.json ? JSON.stringify(item) : describeItem(item));
      if (items.length === 0 && !options.json) options.print('Nothing found.');
    } finally {
      index.close();
    }
  } finally {
    await encoders.close();
  }
}

/** Rank, store, fused score and cosine, id, title, and the beginning of the text. */
export function describeItem(item: EvidenceItem): string {
  const scores = `${item.score.toFixed(2)} (cosine ${item.rawScore.toFixed(2)})`;
  const text = item.text.replace(/\s+/g, ' ');
  const snippet =
    text.length <= SNIPPET_CHARACTERS ? text : `${text.slice(0, SNIPPET_CHARACTERS).replace(/\s\S*$/, '')} …`;
  return `${String(item.rank).padStart(2)}. ${item.store} ${scores} ${item.title} [${item.id}]\n    ${snippet}`;
}
