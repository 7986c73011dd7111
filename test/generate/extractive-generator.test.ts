import { describe, expect, it } from 'vitest';
import { createExtractiveGenerator, estimateTokens } from '../../server/generate/extractive-generator.js';
import { CONTRACTS } from '../../server/prompt/contracts.js';
import { createFakeGenerator, readText } from '../fakes/fake-generator.js';
import { collect, describeGenerator } from '../contracts/generator.contract.js';
import { promptOf } from '../fixtures/prompts.js';
import { createHangingEncoder, createWordEncoder } from '../fixtures/word-encoder.js';

const create = () =>
  createExtractiveGenerator({
    textEncoder: createWordEncoder(),
    abstainBelow: { text: 0.3, speech: 0.2 },
    slack: 0.4,
  });

describeGenerator('the extractive generator', {
  create,
  createHanging: () => createExtractiveGenerator({ textEncoder: createHangingEncoder() }),
});
describeGenerator('the fake generator', {
  create: () => createFakeGenerator(),
  createHanging: () => createFakeGenerator({ pace: () => new Promise(() => undefined) }),
});

const TEXTS = [
  'Salt restriction lowers blood pressure in adults. The weather was fine that year.',
  'Salt restriction lowers blood pressure in adults. Potassium lowers blood pressure too.',
  'What lowers blood pressure in adults?',
];

describe('an extractive answer', () => {
  it('is made of sentences of the evidence, word for word, each with its id', async () => {
    const prompt = promptOf({ question: 'What lowers blood pressure in adults?', texts: TEXTS });
    const chunks = await collect(create(), prompt);
    const quotes = chunks.filter(({ quote }) => quote !== undefined);
    expect(quotes.length).toBeGreaterThan(0);
    for (const { text, quote = '', evidenceIds } of quotes) {
      expect(text.trim()).toBe(quote);
      const cited = prompt.visible.find(({ id }) => id === evidenceIds[0]);
      expect(cited?.snippet).toContain(quote);
    }
    expect(CONTRACTS.open.parse(chunks.map(({ text }) => text).join(''), 0)).toMatchObject({
      kind: 'answer',
      labels: ['E1', 'E2'],
    });
  });

  it('says nothing twice and never answers with a question', async () => {
    const prompt = promptOf({ question: 'What lowers blood pressure in adults?', texts: TEXTS });
    const answer = readText(await collect(create(), prompt));
    expect(answer.match(/Salt restriction/g)).toHaveLength(1);
    expect(answer).not.toContain('?');
  });

  it('abstains when the evidence is of something else', async () => {
    const prompt = promptOf({ question: 'Who painted the ceiling of the chapel?', texts: TEXTS });
    expect(await collect(create(), prompt)).toEqual([
      { text: 'insufficient evidence', evidenceIds: [], abstained: true },
    ]);
  });

  it('abstains without evidence and when all of it are questions', async () => {
    for (const texts of [[], ['What lowers blood pressure?']]) {
      const [chunk] = await collect(create(), promptOf({ question: 'What lowers blood pressure?', texts }));
      expect(chunk?.abstained).toBe(true);
    }
  });

  it('needs no words of a spoken question, only its vector, and has a threshold of its own for it', async () => {
    const heard = 'blood garlic moon river stone cloud salt';
    const speech = promptOf({ question: null, heard, texts: TEXTS });
    const text = promptOf({ question: heard, texts: TEXTS });
    const strict = createExtractiveGenerator({
      textEncoder: createWordEncoder(),
      abstainBelow: { text: 0.9, speech: 0.1 },
    });
    expect((await collect(strict, speech))[0]?.abstained).toBeUndefined();
    expect((await collect(strict, text))[0]?.abstained).toBe(true);
  });

  it('marks a sentence that the snippet cuts off, the quote staying verbatim', async () => {
    const long = `Salt restriction lowers blood pressure ${'in adults and in children '.repeat(12)}`;
    const prompt = promptOf({ question: 'Salt restriction lowers blood pressure in adults', texts: [long] });
    const chunk = (await collect(create(), prompt)).find(({ quote }) => quote !== undefined);
    expect(chunk?.text).toMatch(/ …$/);
    expect(prompt.visible[0]?.snippet).toBe(chunk?.quote);
  });

  it('names an encoder that fails: generator_failed, to be tried again', async () => {
    const broken = { ...createWordEncoder(), encode: () => Promise.reject(new Error('no memory')) };
    const generator = createExtractiveGenerator({ textEncoder: broken });
    const prompt = promptOf({ question: 'What lowers it?', texts: TEXTS });
    await expect(collect(generator, prompt)).rejects.toMatchObject({
      code: 'generator_failed',
      retryable: true,
    });
  });
});

describe('an extractive exam answer', () => {
  const choices = ['Bed rest', 'Salt restriction', 'Sunlight', 'Singing'];

  it('is the option that the evidence speaks of', async () => {
    const prompt = promptOf({
      question: 'What lowers blood pressure?',
      texts: TEXTS,
      contract: 'exam',
      choices,
    });
    const [chunk] = await collect(create(), prompt);
    expect(chunk).toMatchObject({ text: 'Correct Option: B', evidenceIds: ['d1#0'] });
    expect(chunk?.quote).toContain('Salt restriction');
  });

  it('works from the options alone when the question was sound', async () => {
    const prompt = promptOf({
      question: null,
      heard: 'lowers blood pressure',
      texts: TEXTS,
      contract: 'exam',
      choices,
    });
    expect((await collect(create(), prompt))[0]?.text).toBe('Correct Option: B');
  });

  it('abstains, which counts as wrong, where there are no options or no evidence of the subject', async () => {
    const without = promptOf({ question: 'What lowers blood pressure?', texts: TEXTS, contract: 'exam' });
    const far = promptOf({ question: 'Who painted it?', texts: TEXTS, contract: 'exam', choices });
    for (const prompt of [without, far]) expect((await collect(create(), prompt))[0]?.abstained).toBe(true);
  });
});

describe('an extractive yes or no', () => {
  it.each([
    ['yes', 'The trial found that salt restriction lowers blood pressure.'],
    ['no', 'The trial found that salt restriction does not lower blood pressure.'],
    ['maybe', 'Results on salt restriction and blood pressure are inconclusive.'],
  ])('is %s by the words of the finding, and quotes it', async (verdict, text) => {
    const prompt = promptOf({
      question: 'Does salt restriction lower blood pressure?',
      texts: [text],
      contract: 'yes_no_maybe',
    });
    expect(await collect(create(), prompt)).toEqual([
      { text: `Answer: ${verdict}`, evidenceIds: ['d1#0'], quote: text },
    ]);
  });
});

describe('the estimate of tokens', () => {
  it('counts a run of letters by fours and every mark', () => {
    expect(estimateTokens('salt, please')).toBe(1 + 1 + 2);
    expect(estimateTokens('hypertension')).toBe(3);
    expect(estimateTokens(' \n ')).toBe(0);
  });
});
