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
  /** Different words that can be corrected to. */
  readonly words: number;
  /** Adds terms of the corpus; those whose name is known already change nothing. */
  add(terms: readonly Term[]): void;
  /** Whether a word is in a term or in English: such a word is never corrected. */
  isReal(key: string): boolean;
  /** The term that is exactly this name. */
  termOf(name: string): Term | null;
  find(words: readonly Word[]): Array<NameMatch<Term>>;
  candidates(key: string, limit: number): Candidate[];
}

/** English words of this size and below also compete with terms for a misspelt word: `whta` is no drug. */
const RIVAL_SIZE = 35;
/** Rare words of longer names become terms of their own from this length on: `hypoplasia` out of `pulmonary hypoplasia`. */
const MIN_OWN_WORD = 6;

/** Builds the index over all terms of the list; nothing is cut off. */
export function createTermIndex(list: TermList): TermIndex {
  const trie = createTermTrie<Term>();
  const nearWords = createWordIndex();
  /** Word → shortest term that has it, and in how many it stands. */
  const owners = new Map<string, { term: Term; uses: number }>();
  const folded = new Set<string>();

  function own(term: Term, name: string): void {
    for (const { key } of splitWords(name)) {
      if (!/^\p{L}{3,}$/u.test(key)) continue;
      const owner = owners.get(key);
      if (!owner) {
        owners.set(key, { term, uses: 1 });
        folded.add(foldPlural(key));
        nearWords.add([key]);
      } else {
        owner.uses += 1;
        if (name.length < owner.term.name.length) owner.term = term;
      }
    }
  }

  function addOwnWords(terms: readonly Term[]): void {
    for (const term of terms) {
      if (term.kind === 'mined') continue;
      for (const { key } of splitWords(term.name)) {
        if (key.length < MIN_OWN_WORD || !/^\p{L}+$/u.test(key) || list.commonWords.has(key)) continue;
        if (trie.get(key) === undefined)
          trie.add(key, { id: `word:${key}`, name: key, synonyms: [], kind: 'word' });
      }
    }
  }

  function add(terms: readonly Term[]): void {
    // Names before synonyms: what one source calls a synonym is often the name of its own entry.
    for (const term of terms) trie.add(term.name, term);
    for (const term of terms) for (const synonym of term.synonyms) trie.add(synonym, term);
    addOwnWords(terms);
    for (const term of terms) for (const name of [term.name, ...term.synonyms]) own(term, name);
  }

  add(list.terms);
  nearWords.add(rivals(list));

  return {
    list,
    get words() {
      return owners.size;
    },
    add,
    isReal: (key) =>
      list.commonWords.has(key) ||
      owners.has(key) ||
      folded.has(foldPlural(key)) ||
      trie.get(key) !== undefined,
    termOf: (name) => trie.get(name) ?? null,
    find: (words) => trie.find(words),
    candidates: (key, limit) =>
      nearWords.near(key, limit).map((near) => {
        const owner = owners.get(near.word);
        return { ...near, term: trie.get(near.word) ?? owner?.term ?? null, uses: owner?.uses ?? 0 };
      }),
  };
}

function* rivals(list: TermList): Generator<string> {
  for (const [word, size] of list.commonWords) if (size <= RIVAL_SIZE && word.length >= 3) yield word;
}
