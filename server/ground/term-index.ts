import type { Term, TermList } from './term-list.js';
import { createTermTrie, type NameMatch } from './term-trie.js';
import { createWordIndex, type NearWord } from './word-index.js';
import { foldPlural, splitWords, type Word } from './words.js';

/** A word that a misspelt one may stand for. `term` is null for an ordinary English word. */
export interface Candidate extends NearWord {
  readonly term: Term | null;
  /** Number of terms that have the word in their name; 0 for an ordinary word. */
  readonly uses: number;
}

/** What the entities of a text are looked up in. */
export interface TermIndex {
  readonly list: TermList;
  /** Different terms, by id. */
  readonly terms: number;
  /** Different words that can be corrected to. */
  readonly words: number;
  /** Adds terms of the corpus. One whose id is known changes nothing; of two terms of one name the first stays. */
  add(terms: readonly Term[]): void;
  /** Whether a word is in a term or in English: such a word is never corrected. */
  isReal(key: string): boolean;
  /** Whether conditions are named by the word, as `failure` and `fever` are in names of diseases, but not `blood`. */
  isHead(key: string): boolean;
  /** The term that is exactly this name. */
  termOf(name: string): Term | null;
  find(words: readonly Word[]): Array<NameMatch<Term>>;
  candidates(key: string, limit: number): Candidate[];
}

/** English words of this size and below also compete with terms for a misspelt word: `whta` is no drug. */
const RIVAL_SIZE = 35;
/** Rare words of longer names become terms of their own from this length on: `hypoplasia` out of `pulmonary hypoplasia`. */
const MIN_OWN_WORD = 6;

/** Names of diseases that must end with a word before it counts as naming a condition. */
const MIN_HEADED = 3;
/** Everyday words that name conditions though hardly a listed disease ends with them. */
const CONDITION_WORDS = [
  'ache',
  'attack',
  'bleeding',
  'burn',
  'cough',
  'fracture',
  'headache',
  'injury',
  'pain',
  'shock',
  'stroke',
  'wound',
];
/** Words after which a name goes on with something else than its head. */
const LINKS = new Set(['and', 'by', 'due', 'for', 'from', 'in', 'of', 'on', 'or', 'the', 'to', 'with']);

/** Builds the index over all terms of the list; nothing is cut off. */
export function createTermIndex(list: TermList): TermIndex {
  const trie = createTermTrie<Term>();
  const nearWords = createWordIndex();
  /** Word → shortest term that has it, and in how many it stands. */
  const owners = new Map<string, { term: Term; uses: number }>();
  const folded = new Set<string>();
  const ids = new Set<string>();
  /** Last word of the names of diseases of several words, in the singular → how many end with it. */
  const heads = new Map(CONDITION_WORDS.map((word) => [word, MIN_HEADED]));

  function own(term: Term, { name, words }: SplitName): void {
    for (const { key } of words) {
      const owner = owners.get(key);
      if (owner) {
        owner.uses += 1;
        if (name.length < owner.term.name.length) owner.term = term;
      } else if (/^\p{L}{3,}$/u.test(key)) {
        owners.set(key, { term, uses: 1 });
        folded.add(foldPlural(key));
        nearWords.add([key]);
      }
    }
  }

  function addOwnWords({ words }: SplitName): void {
    for (const { key } of words) {
      if (key.length < MIN_OWN_WORD || !/^\p{L}+$/u.test(key) || list.commonWords.has(key)) continue;
      if (trie.get(key) === undefined)
        trie.add(key, { id: `word:${key}`, name: key, synonyms: [], kind: 'word' });
    }
  }

  function addHead({ words }: SplitName): void {
    // `tumour of the brain` is a tumour.
    if (words.length < 2 || words.some(({ key }) => LINKS.has(key))) return;
    const head = foldPlural((words.at(-1) as Word).key);
    heads.set(head, (heads.get(head) ?? 0) + 1);
  }

  function add(terms: readonly Term[]): void {
    // A term is known by its id: a corpus is mined again after every ingest.
    const fresh = terms.filter(({ id }) => !ids.has(id) && ids.add(id));
    const split = fresh.map((term) => ({ term, names: [term.name, ...term.synonyms].map(splitName) }));
    // Names before synonyms: what one source calls a synonym is often the name of its own entry.
    for (const { term, names } of split) trie.add(term.name, term, names[0]?.words);
    for (const { term, names } of split)
      for (const { name, words } of names.slice(1)) trie.add(name, term, words);
    for (const { term, names } of split) if (term.kind !== 'mined') addOwnWords(names[0] as SplitName);
    for (const { term, names } of split) for (const name of names) own(term, name);
    for (const { term, names } of split) if (term.kind === 'disease') names.forEach(addHead);
  }

  add(list.terms);
  nearWords.add(rivals(list));

  return {
    list,
    get terms() {
      return ids.size;
    },
    get words() {
      return owners.size;
    },
    add,
    isReal: (key) =>
      list.commonWords.has(key) ||
      owners.has(key) ||
      folded.has(foldPlural(key)) ||
      trie.get(key) !== undefined,
    isHead: (key) => (heads.get(foldPlural(key)) ?? 0) >= MIN_HEADED,
    termOf: (name) => trie.get(name) ?? null,
    find: (words) => trie.find(words),
    candidates: (key, limit) =>
      nearWords.near(key, limit).map((near) => {
        const owner = owners.get(near.word);
        return { ...near, term: trie.get(near.word) ?? owner?.term ?? null, uses: owner?.uses ?? 0 };
      }),
  };
}

interface SplitName {
  readonly name: string;
  readonly words: readonly Word[];
}

/** Every name is split once: four structures are made of its words. */
function splitName(name: string): SplitName {
  return { name, words: splitWords(name) };
}

function* rivals(list: TermList): Generator<string> {
  for (const [word, size] of list.commonWords) if (size <= RIVAL_SIZE && word.length >= 3) yield word;
}
