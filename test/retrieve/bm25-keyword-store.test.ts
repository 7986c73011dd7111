import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBm25KeywordStore, keywordsOf } from '../../server/retrieve/bm25-keyword-store.js';
import { keywordStoreContract } from '../contracts/keyword-store.contract.js';

keywordStoreContract('bm25', async (documents) => createBm25KeywordStore(documents));

/** The formula as it is printed, document by document. */
function naiveBm25(documents: ReadonlyArray<{ key: number; text: string }>, query: string) {
  const [k1, b] = [1.5, 0.75];
  const bags = documents.map(({ key, text }) => ({
    key,
    words: text.toLowerCase().split(/\s+/).filter(Boolean),
  }));
  const meanLength = bags.reduce((sum, { words }) => sum + words.length, 0) / bags.length;
  const asked = new Set(query.toLowerCase().split(/\s+/).filter(Boolean));
  return bags
    .map(({ key, words }) => {
      let score = 0;
      for (const word of asked) {
        const holders = bags.filter((bag) => bag.words.includes(word)).length;
        const frequency = words.filter((other) => other === word).length;
        const idf = Math.log(1 + (bags.length - holders + 0.5) / (holders + 0.5));
        score += (idf * frequency * (k1 + 1)) / (frequency + k1 * (1 - b + (b * words.length) / meanLength));
      }
      return { key, score };
    })
    .filter(({ score }) => score > 0)
    .sort((x, y) => y.score - x.score || x.key - y.key);
}

describe('bm25', () => {
  it('scores like the printed formula on any texts', async () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', 'd', 'ee', 'f9'), { maxLength: 12 })
      .map((w) => w.join(' '));
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 20 }), text, async (texts, query) => {
        const documents = texts.map((words, index) => ({ key: index * 3, text: words }));
        fc.pre(texts.some((words) => words.length > 0));
        const store = await createBm25KeywordStore(documents);
        const expected = naiveBm25(documents, query);
        const hits = store.search(query, 100);
        const scores = new Map(hits.map((hit) => [hit.key, hit.score]));
        expect(new Set(scores.keys())).toEqual(new Set(expected.map((hit) => hit.key)));
        for (const { key, score } of expected) expect(scores.get(key)).toBeCloseTo(score, 5);
        expect(store.search(query, 3)).toEqual(hits.slice(0, 3));
      }),
    );
  });

  it('weighs a rare word above a frequent one without any list of stop words', async () => {
    const texts = ['the heart beats', 'the lung breathes', 'the skin itches', 'the the the the'];
    const store = await createBm25KeywordStore(texts.map((text, key) => ({ key, text })));
    expect(store.search('the itches', 4)[0]?.key).toBe(2);
    expect(store.search('the', 4)).toHaveLength(4);
  });

  it('reads words in any script, without case and accents, and numbers', () => {
    expect(keywordsOf('Ménière’s disease: 2,5 µg/kg — ΔΨm HbA1c!')).toEqual([
      'meniere',
      's',
      'disease',
      '2',
      '5',
      'μg',
      'kg',
      'δψm',
      'hba1c',
    ]);
  });
});
