import type { Term, TermList } from './term-list.js';
import { splitWords, type Word } from './words.js';

/** How often each candidate was seen, over every text given so far. Insertion order is the order of first sight. */
export type MinedCounts = ReadonlyMap<string, number>;

/** What tells ordinary words from candidates; a word is given in lower case. */
export interface MiningOptions {
  readonly isCommon: (word: string) => boolean;
}

/** Longest phrase, words: longer names exist but are hardly ever said whole. */
const MAX_PHRASE_WORDS = 4;

/**
 * Candidate terms of texts, all of them: words that are no ordinary English, abbreviations, and phrases written with
 * capitals or around a rare word. Pure; give the result back as `previous` to go on with further texts: mining two batches
 * one after the other equals mining them at once.
 */
export function mineTerms(
  texts: Iterable<string>,
  options: MiningOptions,
  previous: MinedCounts = new Map(),
): MinedCounts {
  const counts = new Map(previous);
  for (const text of texts) {
    for (const sentence of text.split(/(?<=[.!?;:])\s+|\n+/)) {
      for (const name of candidatesOf(sentence, options)) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return counts;
}

/**
 * Mined counts as terms. A rare word counts from its first sight, for a name said once in a corpus is still a name; a phrase
 * from its second, because chance puts any two words together once.
 */
export function minedTerms(counts: MinedCounts): Term[] {
  return Array.from(counts)
    .filter(([name, count]) => count >= 2 || !name.includes(' '))
    .map(([name]) => ({ id: `mined:${name}`, name, synonyms: [], kind: 'mined' as const }));
}

/**
 * The names of a corpus that the list's English lacks, all of them. A name has the same id whenever it is mined, so that the whole
 * of a corpus may be mined again after every ingest and given to `addTerms`, which takes only what is new.
 */
export function corpusTerms(texts: Iterable<string>, list: TermList): Term[] {
  return minedTerms(mineTerms(texts, { isCommon: (word) => list.commonWords.has(word) }));
}

function* candidatesOf(sentence: string, options: MiningOptions): Generator<string> {
  const words = splitWords(sentence);
  const rare = words.map((word) => isRare(word, options));
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i] as Word;
    if (rare[i]) yield isAbbreviation(word.text) ? word.text : word.key;
    yield* phrasesFrom({ sentence, words, rare, options }, i);
  }
}

interface Sentence {
  readonly sentence: string;
  readonly words: readonly Word[];
  readonly rare: readonly boolean[];
  readonly options: MiningOptions;
}

/** Phrases that begin at word `first`: every word capitalised, or a rare word with the words that stand against it. */
function* phrasesFrom({ sentence, words, rare, options }: Sentence, first: number): Generator<string> {
  let capitals = first > 0;
  let hasRare = false;
  let isPlain = true;
  for (let last = first; last < Math.min(words.length, first + MAX_PHRASE_WORDS); last += 1) {
    const word = words[last] as Word;
    const before = words[last - 1];
    if (last > first && before && !/^[ -]$/.test(sentence.slice(before.end, word.start))) return;
    capitals &&= /^\p{Lu}/u.test(word.text);
    hasRare ||= rare[last] === true;
    isPlain &&=
      word.key.length > 3 &&
      /^\p{L}+$/u.test(word.key) &&
      !(STOP.has(word.key) && options.isCommon(word.key));
    if (!capitals && !isPlain) return;
    if (last > first && (capitals || (isPlain && hasRare && last - first < 3))) {
      yield words
        .slice(first, last + 1)
        .map((each) => each.key)
        .join(' ');
    }
  }
}

function isRare(word: Word, options: MiningOptions): boolean {
  if (!/^\p{L}[\p{L}\p{N}]*$/u.test(word.key) || word.key.length < 3) return false;
  return isAbbreviation(word.text) || (word.key.length >= 4 && !options.isCommon(word.key));
}

function isAbbreviation(text: string): boolean {
  return /^\p{Lu}[\p{Lu}\p{N}]{1,5}$/u.test(text) && text.length >= 3;
}

/** Words of four letters and more that begin, end or break a phrase. */
const STOP = new Set(
  (
    'about above after again against also although among another because been before being below between both cannot ' +
    'could does doing down during each either from further have having here however into itself less many may might more ' +
    'most much must neither nor once only other ought over same shall should since some such than that their them then there ' +
    'these they this those though through thus under until upon very was were what when where whether which while whom ' +
    'whose will with within without would your'
  ).split(' '),
);
