import { editSimilarity } from './edit-distance.js';
import { distinct, phoneticCodes, phoneticSimilarity, type PhoneticCodes } from './phonetic.js';

/** A word of the vocabulary near a given one. */
export interface NearWord {
  readonly word: string;
  /** Normalised Damerau–Levenshtein similarity, 0 … 1. */
  readonly edit: number;
  /** Similarity of the double-metaphone codes, 0 … 1. */
  readonly phonetic: number;
}

/** Words near a misspelt or misheard one, without looking at all of them. */
export interface WordIndex {
  readonly size: number;
  has(word: string): boolean;
  /** Words already there are skipped. */
  add(words: Iterable<string>): void;
  /** At most `limit` words other than `word`, nearest first by the sum of both similarities, ties by spelling. */
  near(word: string, limit: number): NearWord[];
}

/** Candidates taken from spelling: those that share most letter triples. Each costs one edit distance, 1–2 µs. */
const SPELLING_CANDIDATES = 64;
/** Candidates taken from one sound code, nearest in length first. */
const SOUND_CANDIDATES = 64;
/** Share of common letter triples (Dice) below which a word is no candidate by spelling. */
const MIN_OVERLAP = 0.2;
/** Words whose lengths differ by more than this cannot be near enough to be corrected. */
const MAX_LENGTH_DIFFERENCE = 4;
/** Codes shorter than this are shared by too many words once a letter is left out. */
const MIN_CODE_FOR_DELETION = 4;

/**
 * Two inverted indexes: letter triples → words, and sound codes (whole, and with one letter left out) → words. A query reads a
 * dozen lists and scores at most some two hundred words, whatever the size of the vocabulary.
 */
export function createWordIndex(): WordIndex {
  const words: string[] = [];
  const codes: PhoneticCodes[] = [];
  const ids = new Map<string, number>();
  const byTriple = new Array<number[] | undefined>(TRIPLES).fill(undefined);
  const byCode = new Map<string, number[]>();
  let shared = new Uint8Array(1024);

  function addWord(word: string): void {
    if (ids.has(word)) return;
    const id = words.length;
    ids.set(word, id);
    words.push(word);
    const code = phoneticCodes(word);
    codes.push(code);
    for (const triple of triplesOf(word)) appendOnce((byTriple[triple] ??= []), id);
    for (const key of soundKeys(code)) {
      const list = byCode.get(key);
      if (list) appendOnce(list, id);
      else byCode.set(key, [id]);
    }
  }

  function bySpelling(word: string): number[] {
    const triples = new Set(triplesOf(word));
    const touched: number[] = [];
    for (const triple of triples) {
      for (const id of byTriple[triple] ?? []) {
        if (shared[id] === 0) touched.push(id);
        shared[id] = (shared[id] as number) + 1;
      }
    }
    const best = mostShared(touched, { size: triples.size, length: word.length, shared, words });
    for (const id of touched) shared[id] = 0;
    return best;
  }

  function bySound(word: string, code: PhoneticCodes): number[] {
    const found: number[] = [];
    for (const key of new Set(soundKeys(code))) {
      const near = (byCode.get(key) ?? []).filter(
        (id) => Math.abs((words[id] as string).length - word.length) <= MAX_LENGTH_DIFFERENCE,
      );
      if (near.length > SOUND_CANDIDATES) {
        const distance = (id: number): number => Math.abs((words[id] as string).length - word.length);
        near.sort((a, b) => distance(a) - distance(b) || a - b);
        near.length = SOUND_CANDIDATES;
      }
      found.push(...near);
    }
    return found;
  }

  return {
    get size() {
      return words.length;
    },
    has: (word) => ids.has(word),
    add(added) {
      for (const word of added) addWord(word);
      if (shared.length < words.length) shared = new Uint8Array(words.length * 2);
    },
    near(word, limit) {
      const code = phoneticCodes(word);
      const candidates = new Set([...bySpelling(word), ...bySound(word, code)]);
      const near: NearWord[] = [];
      for (const id of candidates) {
        const other = words[id] as string;
        if (other === word) continue;
        near.push({
          word: other,
          edit: editSimilarity(word, other),
          phonetic: phoneticSimilarity(code, codes[id] as PhoneticCodes),
        });
      }
      return near.sort(byNearness).slice(0, limit);
    },
  };
}

/** Nearest first, ties by spelling. */
function byNearness(a: NearWord, b: NearWord): number {
  return b.edit + b.phonetic - (a.edit + a.phonetic) || (a.word < b.word ? -1 : a.word > b.word ? 1 : 0);
}

interface Overlap {
  /** Triples of the word asked for, and its length. */
  readonly size: number;
  readonly length: number;
  /** Triples that each word has in common with it. */
  readonly shared: Uint8Array;
  readonly words: readonly string[];
}

/** The most overlapping words, by counting sort over the overlap in hundredths. */
function mostShared(touched: readonly number[], { size, length, shared, words }: Overlap): number[] {
  const buckets: number[][] = [];
  for (const id of touched) {
    const other = (words[id] as string).length;
    if (Math.abs(other - length) > MAX_LENGTH_DIFFERENCE) continue;
    // A word of n letters has n triples when its ends are padded once on either side.
    const overlap = (2 * (shared[id] as number)) / (size + other);
    if (overlap < MIN_OVERLAP) continue;
    const bucket = Math.min(100, Math.floor(overlap * 100));
    (buckets[bucket] ??= []).push(id);
  }
  const best: number[] = [];
  for (let bucket = 100; bucket >= 0 && best.length < SPELLING_CANDIDATES; bucket -= 1) {
    for (const id of buckets[bucket] ?? []) if (best.length < SPELLING_CANDIDATES) best.push(id);
  }
  return best;
}

/** Ids only grow: one that is in a list already is its last. */
function appendOnce(list: number[], id: number): void {
  if (list[list.length - 1] !== id) list.push(id);
}

/** No letter's five bits: the first and the last place of a padded word. */
const START = 0;
const END = 27;
const TRIPLES = 2 ** 15;

/**
 * Letter triples of a word with its ends marked, `^as ast … a$`, as numbers below `TRIPLES`: five bits a letter. Letters beyond a–z
 * may share their bits, which only makes for candidates that scoring refuses.
 */
function triplesOf(word: string): number[] {
  const triples: number[] = [];
  let [first, second] = [START, word.charCodeAt(0) & 31];
  for (let at = 1; at <= word.length; at += 1) {
    const third = at === word.length ? END : word.charCodeAt(at) & 31;
    triples.push((first << 10) | (second << 5) | third);
    [first, second] = [second, third];
  }
  return triples;
}

/** The codes, and each code with one letter left out (symmetric deletion: codes one edit apart meet in a key). May repeat. */
function soundKeys(codes: PhoneticCodes): string[] {
  const keys: string[] = [];
  for (const code of distinct(codes)) {
    if (code === '') continue;
    keys.push(code);
    if (code.length < MIN_CODE_FOR_DELETION) continue;
    for (let at = 0; at < code.length; at += 1) keys.push(`-${code.slice(0, at)}${code.slice(at + 1)}`);
  }
  return keys;
}
