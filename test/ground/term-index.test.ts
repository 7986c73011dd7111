import fc from 'fast-check';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTermIndex } from '../../server/ground/term-index.js';
import {
  createTermList,
  formatTerm,
  loadTermList,
  parseTerm,
  type Term,
} from '../../server/ground/term-list.js';
import { minedTerms, mineTerms } from '../../server/ground/term-mining.js';
import { createTermTrie } from '../../server/ground/term-trie.js';
import { createWordIndex } from '../../server/ground/word-index.js';
import { splitWords } from '../../server/ground/words.js';

const term = (name: string, ...synonyms: string[]): Term => ({
  id: `t:${name}`,
  name,
  synonyms,
  kind: 'disease',
});
const letters = fc.string({ unit: fc.constantFrom(...'abcdeiou'), minLength: 4, maxLength: 9 });

describe('the term trie', () => {
  const trie = createTermTrie<string>();
  trie.add('diabetes', 'D');
  trie.add('diabetes mellitus', 'DM');
  trie.add('ALL', 'leukaemia');
  const find = (text: string) =>
    trie.find(splitWords(text)).map(({ value, first, last }) => [value, first, last]);

  it('takes the longest name, whatever the case, hyphen or number', () => {
    expect(find('Is Diabetes-Mellitus worse than diabetes?')).toEqual([
      ['DM', 1, 2],
      ['D', 5, 5],
    ]);
  });

  it('reads abbreviations only where they are written in capitals', () => {
    expect(find('all of it')).toEqual([]);
    expect(find('ALL in children')).toEqual([['leukaemia', 0, 0]]);
  });

  it('keeps the first value of a name', () => {
    trie.add('Diabetes', 'other');
    expect(trie.get('diabetes')).toBe('D');
  });
});

describe('the term index', () => {
  it('reaches the last of 20,000 terms: there is no cut-off', () => {
    const made = Array.from({ length: 20_000 }, (_, i) =>
      term(`filler${i.toString(26).replace(/\d/g, (d) => 'qrstuvwxyz'[Number(d)] ?? 'q')}`),
    );
    const index = createTermIndex(createTermList({ terms: [...made, term('zymborrelin')] }));
    expect(index.candidates('zymborelin', 3)[0]).toMatchObject({
      word: 'zymborrelin',
      term: { id: 't:zymborrelin' },
    });
    expect(index.find(splitWords('zymborrelin'))).toHaveLength(1);
  });

  it('knows the words of names, of synonyms and of English as real', () => {
    const index = createTermIndex(
      createTermList({ terms: [term('asthma', 'wheezy chestitis')], commonWords: [['cat', 10]] }),
    );
    for (const word of ['asthma', 'wheezy', 'chestitis', 'cat']) expect(index.isReal(word), word).toBe(true);
    expect(index.isReal('astma')).toBe(false);
  });
});

describe('the word index', () => {
  it('answers the same whether words come at once or one by one', () => {
    fc.assert(
      fc.property(fc.uniqueArray(letters, { maxLength: 40 }), letters, (words, asked) => {
        const [atOnce, oneByOne] = [createWordIndex(), createWordIndex()];
        atOnce.add(words);
        for (const word of words) oneByOne.add([word]);
        expect(oneByOne.near(asked, 5)).toEqual(atOnce.near(asked, 5));
      }),
    );
  });

  it('finds a word by any one slip in it', () => {
    const words = ['hypertension', 'hypotension', 'asthma', 'insulin', 'warfarin', 'metformin'];
    const index = createWordIndex();
    index.add(words);
    const slip = fc.tuple(fc.constantFrom(...words), fc.nat(), fc.constantFrom('drop', 'double', 'change'));
    fc.assert(
      fc.property(slip, ([word, position, kind]) => {
        const at = position % word.length;
        const middle = { drop: '', double: `${word[at]}${word[at]}`, change: 'q' }[kind] ?? '';
        const near = index.near(word.slice(0, at) + middle + word.slice(at + 1), 6);
        expect(near.map((each) => each.word)).toContain(word);
      }),
    );
  });

  it('never answers with the word itself and gives at most the limit', () => {
    const index = createWordIndex();
    index.add(['insulin', 'insulins', 'inulin']);
    expect(index.near('insulin', 1).map(({ word }) => word)).toEqual(['insulins']);
  });
});

describe('mining', () => {
  const common = new Set('the patient was given and got better with again of a'.split(' '));
  const options = { isCommon: (word: string) => common.has(word) };
  const texts = [
    'The patient was given Qorvexalin and got better.',
    'Again the Mount Zell Protocol was given with COPD. qorvexalin again.',
    'Given the Mount Zell Protocol and qorvexalin.',
  ];

  it('finds rare words at first sight, abbreviations and repeated phrases', () => {
    const names = minedTerms(mineTerms(texts, options)).map((each) => each.name);
    expect(names).toContain('qorvexalin');
    expect(names).toContain('COPD');
    expect(names).toContain('mount zell protocol');
    expect(names).not.toContain('patient');
  });

  it('is incremental: two batches one after the other equal one', () => {
    const first = mineTerms(texts.slice(0, 1), options);
    expect(mineTerms(texts.slice(1), options, first)).toEqual(mineTerms(texts, options));
    expect(first).toEqual(mineTerms(texts.slice(0, 1), options));
  });
});

describe('term lists', () => {
  it('survive being written and read', () => {
    const name = fc.string({ minLength: 1 }).filter((text) => text.trim() !== '' && !/[\t\n\r|]/.test(text));
    fc.assert(
      fc.property(name, fc.array(name), (each, synonyms) => {
        const made = term(each, ...synonyms);
        expect(parseTerm(formatTerm(made))).toEqual(made);
      }),
    );
  });

  it('leave out confusable pairs that are one drug', () => {
    const list = createTermList({
      terms: [],
      confusablePairs: [
        ['a', 'b'],
        ['c', 'd'],
      ],
      sameDrugPairs: [['b', 'a']],
    });
    expect([list.confusable.has('b', 'a'), list.confusable.has('d', 'c')]).toEqual([false, true]);
  });

  it('say which file is missing or malformed', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'terms-'));
    await expect(loadTermList(empty)).rejects.toMatchObject({ code: 'file_unreadable' });
    expect(() => parseTerm('only one cell')).toThrow(expect.objectContaining({ code: 'file_unreadable' }));
  });
});
