import { describe, expect, it } from 'vitest';
import { createEntityGrounder } from '../../server/ground/entity-grounder.js';
import {
  loadTermList,
  shippedTermsFolder,
  createTermList,
  type Term,
} from '../../server/ground/term-list.js';
import { corpusTerms } from '../../server/ground/term-mining.js';
import { createFakeTextEncoder } from '../fakes/fake-text-encoder.js';
import { createFakeGrounder } from '../fakes/fake-grounder.js';
import { describeGrounder } from '../contracts/grounder.contract.js';
import { evidenceOf } from './evidence.js';

const terms = await loadTermList(shippedTermsFolder());
const grounder = createEntityGrounder({ terms });
const withEncoder = createEntityGrounder({ terms, textEncoder: createFakeTextEncoder() });

describeGrounder('entity grounder', { create: () => grounder });
describeGrounder('entity grounder with a text encoder', { create: () => withEncoder });
describeGrounder('fake grounder', { create: () => createFakeGrounder() });

const correctionsOf = async (queryText: string) =>
  (await grounder.ground({ evidence: [], queryText })).corrections.map(({ from, to }) => `${from} > ${to}`);

describe.each([
  ['without a text encoder', grounder],
  ['with a text encoder', withEncoder],
])('the three spellings, %s', (_, each) => {
  it('corrects hypertensoin', async () => {
    const { corrections, mentions } = await each.ground({ evidence: [], queryText: 'What is hypertensoin?' });
    expect(corrections).toMatchObject([{ from: 'hypertensoin', to: 'hypertension' }]);
    expect(mentions).toMatchObject([{ text: 'hypertensoin', term: 'hypertension', where: 'query' }]);
  });

  it.each([
    ['hypertension', 'hypotension'],
    ['hyperplasia', 'hypoplasia'],
  ])('contrasts %s and %s and corrects neither', async (a, b) => {
    const evidence = [evidenceOf('d#0', `${a} and ${b}`)];
    const grounding = await each.ground({ evidence, queryText: `${a} or ${b}` });
    expect(grounding.corrections).toEqual([]);
    expect(grounding.contrasts).toContainEqual({ a, b, kind: 'differs-by', evidenceIds: ['d#0'] });
  });
});

describe('corrections', () => {
  it.each([
    // `melitus` scores below the calibrated threshold, which is set for precision.
    ['what is diabetis melitus', ['diabetis > diabetes']],
    ['an astma inhaler', ['astma > asthma']],
    ['hypertenshun in pregnancy', ['hypertenshun > hypertension']],
    ['is merca top urine toxic', ['merca top urine > mercaptopurine']],
  ])('puts right %j', async (text, expected) => {
    expect(await correctionsOf(text)).toEqual(expected);
  });

  it.each([
    'the quick brown fox jumps over the lazy dog',
    'is prednisone stronger than prednisolone',
    'Can I take aspirin?',
  ])('leaves %j alone', async (text) => {
    expect(await correctionsOf(text)).toEqual([]);
  });

  it('corrects nothing that stands on the shipped English list', async () => {
    const words = Array.from(terms.commonWords.keys()).filter((_, i) => i % 40 === 0);
    expect(await correctionsOf(words.join(' '))).toEqual([]);
  });

  it('contrasts two drugs between which a slip lies, and takes neither', async () => {
    const { corrections, contrasts } = await grounder.ground({
      evidence: [],
      queryText: 'dose of predniolone',
    });
    expect(corrections).toEqual([]);
    expect(contrasts).toContainEqual({
      a: 'prednisolone',
      b: 'prednisone',
      kind: 'look-alike',
      evidenceIds: [],
    });
  });

  it('goes on by spelling and sound when the encoder fails', async () => {
    const encoder = createFakeTextEncoder();
    await encoder.close();
    const crippled = createEntityGrounder({ terms, textEncoder: encoder });
    const { corrections } = await crippled.ground({ evidence: [], queryText: 'hypertensoin' });
    expect(corrections).toMatchObject([{ to: 'hypertension' }]);
  });
});

describe("the corpus's own terms", () => {
  const mined: Term = { id: 'mined:qorvexalin', name: 'qorvexalin', synonyms: [], kind: 'mined' };

  it('are found, corrected to and no longer corrected once added', async () => {
    const fresh = createEntityGrounder({ terms: createTermList({ terms: [] }) });
    expect((await fresh.ground({ evidence: [], queryText: 'qorvexalin' })).mentions).toEqual([]);
    fresh.addTerms([mined]);
    expect((await fresh.ground({ evidence: [], queryText: 'qorvexalin' })).mentions).toHaveLength(1);
    const { corrections } = await fresh.ground({ evidence: [], queryText: 'what is qorvexalim' });
    expect(corrections).toMatchObject([{ from: 'qorvexalim', to: 'qorvexalin' }]);
  });
});

describe('adding terms', () => {
  it('twice is adding them once, as is mining a corpus again', async () => {
    const list = createTermList({ terms: [], commonWords: [['helped', 10]] });
    const fresh = createEntityGrounder({ terms: list });
    const texts = ['Qorvexalin helped.', 'COPD helped.'];
    fresh.addTerms(corpusTerms(texts, list));
    const first = await fresh.ground({ evidence: [], queryText: 'qorvexalim with COPD' });
    expect(fresh.size).toBe(2);
    fresh.addTerms(corpusTerms(texts, list));
    fresh.addTerms(corpusTerms([...texts].reverse(), list));
    expect(fresh.size).toBe(2);
    expect(await fresh.ground({ evidence: [], queryText: 'qorvexalim with COPD' })).toEqual(first);
  });
});

describe('contrasts of the shipped list', () => {
  it('begin with the two names that are asked about', async () => {
    const queryText = 'What is the difference between hypertension and hypotension?';
    const evidence = [
      evidenceOf('d#0', 'Orthostatic hypotension is not white coat hypertension. Emergencies and blood.'),
      evidenceOf('d#1', 'Hypertension is common in stroke; hypotension is not.', { rank: 2 }),
    ];
    const { contrasts } = await grounder.ground({ evidence, queryText });
    expect(contrasts[0]).toMatchObject({ a: 'hypertension', b: 'hypotension', kind: 'differs-by' });
    const names = contrasts.flatMap(({ a, b }) => [a, b]);
    for (const generic of ['emergencies', 'blood']) expect(names).not.toContain(generic);
  });

  it('keep everyday headings out of company, and conditions in', async () => {
    const text =
      'Stroke and atrial fibrillation are emergencies: alcohols, baths, blood, brain, body temperature.';
    const { contrasts } = await grounder.ground({ evidence: [evidenceOf('d#0', text)] });
    expect(contrasts.map(({ a, b }) => [a, b])).toEqual([['atrial fibrillation', 'stroke']]);
  });
});

describe('the gap', () => {
  const spoken = (text: string) => evidenceOf('s#0', text, { store: 'speech' });

  it('names what the question means and the evidence lacks', async () => {
    const evidence = [evidenceOf('d#0', 'Asthma narrows the airways.')];
    expect((await grounder.ground({ evidence, queryText: 'What is hypertension?' })).gap).toContain(
      'hypertension',
    );
    expect((await grounder.ground({ evidence, queryText: 'What is hypertensoin?' })).gap).toContain(
      'hypertension',
    );
    expect((await grounder.ground({ evidence, queryText: 'What is asthma?' })).gap).toBeNull();
  });

  it('tells when recording and passage are about different things', async () => {
    const asthma = evidenceOf('d#0', 'Asthma narrows the airways.');
    const gap = (await grounder.ground({ evidence: [spoken('Tell me of epilepsy.'), asthma] })).gap;
    expect(gap).toContain('epilepsy');
    expect(gap).toContain('asthma');
    expect((await grounder.ground({ evidence: [spoken('Tell me of asthma.'), asthma] })).gap).toBeNull();
  });
});
