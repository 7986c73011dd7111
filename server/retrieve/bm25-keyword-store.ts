import type { KeywordHit, KeywordStore } from './keyword-store.js';

export interface KeywordDocument {
  readonly key: number;
  readonly text: string;
}

export interface Bm25Options {
  /** How soon repeating a word stops to help, 0 … 3; 0 counts presence only. Default 1.5. */
  readonly k1?: number;
  /** How much longer passages are held back, 0 (not at all) … 1 (in proportion). Default 0.75. */
  readonly b?: number;
}

/** Words of a text as the keyword index knows them: lower case, without accents, letters and digits only. */
export function keywordsOf(text: string): string[] {
  const folded = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase();
  return folded.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Postings of all words in three flat arrays: those of word w lie from `starts[w]` to `starts[w + 1]`. */
interface InvertedIndex {
  readonly wordIds: ReadonlyMap<string, number>;
  readonly starts: Int32Array;
  readonly rows: Int32Array;
  readonly frequencies: Float32Array;
  readonly lengths: Float32Array;
  readonly keys: Float64Array;
  readonly meanLength: number;
}

/** A list of numbers that grows by doubling; arrays of objects would take ten times the memory. */
function createGrowing(): { push(value: number): void; values(): Int32Array } {
  let store = new Int32Array(1024);
  let length = 0;
  return {
    push(value) {
      if (length === store.length) {
        const grown = new Int32Array(store.length * 2);
        grown.set(store);
        store = grown;
      }
      store[length++] = value;
    },
    values: () => store.subarray(0, length),
  };
}

function buildIndex(documents: Iterable<KeywordDocument>): InvertedIndex {
  const wordIds = new Map<string, number>();
  const words = createGrowing();
  const rows = createGrowing();
  const counts = createGrowing();
  const lengths: number[] = [];
  const keys: number[] = [];
  for (const { key, text } of documents) {
    const tokens = keywordsOf(text);
    const tally = new Map<number, number>();
    for (const token of tokens) {
      const word = wordIds.get(token) ?? wordIds.size;
      wordIds.set(token, word);
      tally.set(word, (tally.get(word) ?? 0) + 1);
    }
    for (const [word, count] of tally) {
      words.push(word);
      rows.push(keys.length);
      counts.push(count);
    }
    keys.push(key);
    lengths.push(tokens.length);
  }
  const total = lengths.reduce((sum, length) => sum + length, 0);
  return {
    wordIds,
    ...groupByWord({ words: words.values(), rows: rows.values(), counts: counts.values() }, wordIds.size),
    lengths: Float32Array.from(lengths),
    keys: Float64Array.from(keys),
    meanLength: total / Math.max(1, keys.length),
  };
}

/** Counting sort of the postings by word; within a word rows stay ascending. */
function groupByWord(
  postings: { readonly words: Int32Array; readonly rows: Int32Array; readonly counts: Int32Array },
  wordCount: number,
): Pick<InvertedIndex, 'starts' | 'rows' | 'frequencies'> {
  const starts = new Int32Array(wordCount + 1);
  for (const word of postings.words) starts[word + 1] = (starts[word + 1] ?? 0) + 1;
  for (let word = 0; word < wordCount; word++)
    starts[word + 1] = (starts[word + 1] ?? 0) + (starts[word] ?? 0);
  const next = starts.slice();
  const rows = new Int32Array(postings.rows.length);
  const frequencies = new Float32Array(postings.rows.length);
  postings.words.forEach((word, index) => {
    const place = next[word] ?? 0;
    rows[place] = postings.rows[index] ?? 0;
    frequencies[place] = postings.counts[index] ?? 0;
    next[word] = place + 1;
  });
  return { starts, rows, frequencies };
}

/**
 * BM25 in memory (Robertson & Zaragoza 2009, section 3.3), an unchanging snapshot of the passages it was built from:
 * Σ over the query's different words of idf · f (k1 + 1) / (f + k1 (1 − b + b · length / mean length)), with
 * idf = ln(1 + (N − n + 0.5) / (n + 0.5)), the form that is never negative. Frequent words are not on a list: their idf is small.
 */
export async function createBm25KeywordStore(
  documents: Iterable<KeywordDocument>,
  options: Bm25Options = {},
): Promise<KeywordStore> {
  const { k1 = 1.5, b = 0.75 } = options;
  let index = buildIndex(documents);
  const scores = new Float64Array(index.keys.length);

  /** Adds one word's part to every passage that holds it; remembers which were touched. */
  function addWord(word: number, touched: number[]): void {
    const from = index.starts[word] ?? 0;
    const to = index.starts[word + 1] ?? from;
    const holders = to - from;
    const idf = Math.log(1 + (index.keys.length - holders + 0.5) / (holders + 0.5));
    for (let place = from; place < to; place++) {
      const row = index.rows[place] ?? 0;
      const frequency = index.frequencies[place] ?? 0;
      const relativeLength = (index.lengths[row] ?? 0) / index.meanLength;
      if (scores[row] === 0) touched.push(row);
      scores[row] =
        (scores[row] ?? 0) + (idf * frequency * (k1 + 1)) / (frequency + k1 * (1 - b + b * relativeLength));
    }
  }

  function wordOccursIn(word: number, row: number): boolean {
    let low = index.starts[word] ?? 0;
    let high = (index.starts[word + 1] ?? 0) - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = index.rows[middle] ?? 0;
      if (found === row) return true;
      if (found < row) low = middle + 1;
      else high = middle - 1;
    }
    return false;
  }

  return {
    get size() {
      return index.keys.length;
    },
    search(text, k) {
      const known = new Map<string, number>();
      for (const token of keywordsOf(text)) {
        const word = index.wordIds.get(token);
        if (word !== undefined) known.set(token, word);
      }
      const touched: number[] = [];
      for (const word of known.values()) addWord(word, touched);
      const best = selectBest(touched, { scores, keys: index.keys }, k);
      const hits = best.map((row): KeywordHit => {
        const terms = [...known].filter(([, word]) => wordOccursIn(word, row)).map(([token]) => token);
        return { key: index.keys[row] ?? 0, score: scores[row] ?? 0, terms };
      });
      for (const row of touched) scores[row] = 0;
      return hits;
    },
    close() {
      index = buildIndex([]);
    },
  };
}

/** The k best rows in order, by a heap whose root is the worst kept: most of many touched rows fall at one comparison. */
function selectBest(
  rows: readonly number[],
  table: { readonly scores: Float64Array; readonly keys: Float64Array },
  k: number,
): number[] {
  const isWorse = (a: number, b: number): boolean => {
    const difference = (table.scores[a] ?? 0) - (table.scores[b] ?? 0);
    return difference === 0 ? (table.keys[a] ?? 0) > (table.keys[b] ?? 0) : difference < 0;
  };
  const heap: number[] = [];
  for (const row of rows) {
    if (heap.length < k) {
      heap.push(row);
      siftUp(heap, isWorse);
    } else if (heap[0] !== undefined && isWorse(heap[0], row)) {
      heap[0] = row;
      siftDown(heap, isWorse);
    }
  }
  return heap.sort((a, b) => (isWorse(a, b) ? 1 : -1));
}

type Before = (a: number, b: number) => boolean;

function swap(heap: number[], a: number, b: number): void {
  const kept = heap[a] ?? 0;
  heap[a] = heap[b] ?? 0;
  heap[b] = kept;
}

function siftUp(heap: number[], before: Before): void {
  let place = heap.length - 1;
  while (place > 0) {
    const parent = (place - 1) >> 1;
    if (!before(heap[place] ?? 0, heap[parent] ?? 0)) return;
    swap(heap, place, parent);
    place = parent;
  }
}

function siftDown(heap: number[], before: Before): void {
  let place = 0;
  for (;;) {
    const left = 2 * place + 1;
    const right = left + 1;
    if (left >= heap.length) return;
    const child = right < heap.length && before(heap[right] ?? 0, heap[left] ?? 0) ? right : left;
    if (!before(heap[child] ?? 0, heap[place] ?? 0)) return;
    swap(heap, child, place);
    place = child;
  }
}
