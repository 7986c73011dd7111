import { foldPlural, splitWords, type Word } from './words.js';

/** A name found in a text: words `first` … `last`, inclusive. */
export interface NameMatch<T> {
  readonly value: T;
  readonly first: number;
  readonly last: number;
}

/** Names of any number of words, found exactly but for case, accents, hyphens and plural. */
export interface TermTrie<T> {
  /** The first value of a name stays. `words` saves splitting a name that is split already. */
  add(name: string, value: T, words?: readonly Word[]): void;
  get(name: string): T | undefined;
  /** The longest names, from left to right, none overlapping. */
  find(words: readonly Word[]): Array<NameMatch<T>>;
}

/** Word ids stay below this, node ids below 2^53 / it. */
const NODE_STRIDE = 2 ** 24;

/** Names of up to five capitals or digits (ALL, COPD, IT) are abbreviations: as words of a text they count only in capitals. */
const ABBREVIATION = /^[\p{Lu}\p{N}]{1,5}$/u;

/**
 * One map holds all edges, keyed by node and word: a map for every node would take some ten times the memory for the 100,000
 * names of a large list, where most nodes have one child.
 */
export function createTermTrie<T>(): TermTrie<T> {
  const wordIds = new Map<string, number>();
  const edges = new Map<number, number>();
  const values = new Map<number, T>();
  const abbreviations = new Map<number, T>();
  let nodes = 0;

  function walk(words: readonly Word[], grow: boolean): number | undefined {
    let node = 0;
    for (const word of words) {
      const wordId = idOf(foldPlural(word.key), grow);
      const key = wordId === undefined ? -1 : node * NODE_STRIDE + wordId;
      let next = edges.get(key);
      if (next === undefined) {
        if (!grow) return undefined;
        nodes += 1;
        next = nodes;
        edges.set(key, next);
      }
      node = next;
    }
    return node;
  }

  function idOf(word: string, grow: boolean): number | undefined {
    const known = wordIds.get(word);
    if (known !== undefined || !grow) return known;
    wordIds.set(word, wordIds.size);
    return wordIds.size - 1;
  }

  function longestAt(words: readonly Word[], first: number): NameMatch<T> | null {
    let node: number | undefined = 0;
    let best: NameMatch<T> | null = null;
    for (let last = first; last < words.length; last += 1) {
      const word = words[last] as Word;
      const wordId = wordIds.get(foldPlural(word.key));
      node = wordId === undefined ? undefined : edges.get(node * NODE_STRIDE + wordId);
      if (node === undefined) break;
      const shouted = first === last && ABBREVIATION.test(word.text);
      const value: T | undefined = (shouted ? abbreviations.get(node) : undefined) ?? values.get(node);
      if (value !== undefined) best = { value, first, last };
    }
    return best;
  }

  return {
    add(name, value, words = splitWords(name)) {
      if (words.length === 0) return;
      const node = walk(words, true) as number;
      const target = words.length === 1 && ABBREVIATION.test(name) ? abbreviations : values;
      if (!target.has(node)) target.set(node, value);
    },
    get(name) {
      const node = walk(splitWords(name), false);
      if (node === undefined) return undefined;
      return (ABBREVIATION.test(name) ? abbreviations.get(node) : undefined) ?? values.get(node);
    },
    find(words) {
      const found: Array<NameMatch<T>> = [];
      for (let first = 0; first < words.length; first += 1) {
        const match = longestAt(words, first);
        if (!match) continue;
        found.push(match);
        first = match.last;
      }
      return found;
    },
  };
}
