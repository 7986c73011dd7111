import { describe, expect, it } from 'vitest';
import { compareClaim, numbersOf } from '../../server/refine/agreement.js';
import { createHeuristicJudge } from '../../server/refine/heuristic-judge.js';
import type { JudgedAnswer } from '../../server/refine/judge.js';
import { unsafeReason } from '../../server/refine/unsafe.js';
import { createFakeJudge } from '../fakes/fake-judge.js';
import { describeJudge, quoted } from '../contracts/judge.contract.js';
import { JUDGE_CASES } from '../fixtures/judge-cases.js';
import { promptOf } from '../fixtures/prompts.js';
import { createWordEncoder } from '../fixtures/word-encoder.js';

const create = () => createHeuristicJudge({ textEncoder: createWordEncoder() });
const signal = new AbortController().signal;
const SALT = 'Eating less salt lowers blood pressure by about 5 mmHg in adults.';

describeJudge('the heuristic judge', { create });
describeJudge('the fake judge', { create: () => createFakeJudge(), judges: false });

describe('a verdict by rules', () => {
  const prompt = promptOf({ question: 'What does salt do?', texts: [SALT, 'Tea is warm.'] });
  const judge = (text: string) => create().judge(quoted(text, []), prompt, signal);

  it('supports what stands word for word, give or take case, marks and the dots of a cut', async () => {
    for (const text of [
      SALT,
      SALT.toLowerCase(),
      'tea is warm',
      'Tea is warm …',
      `Answer: ${SALT}\nEvidence: [E1]`,
    ])
      expect((await judge(text)).label).toBe('SUPPORTED');
    expect(await judge(SALT)).toMatchObject({ evidenceIds: ['d1#0'] });
  });

  it('does not take the end of a word for the word', async () => {
    expect((await judge('ea is warm')).label).toBe('UNSUPPORTED');
  });

  it('says in what an answer differs', async () => {
    expect(await judge(SALT.replace('5', '50'))).toMatchObject({
      label: 'UNSUPPORTED',
      reason: expect.stringContaining('numbers') as string,
    });
    expect(await judge(SALT.replace('lowers', 'does not lower'))).toMatchObject({
      label: 'UNSUPPORTED',
      reason: expect.stringContaining('negation') as string,
    });
    expect(await judge(SALT.replace('lowers', 'raises'))).toMatchObject({
      label: 'UNSUPPORTED',
      reason: expect.stringContaining('direction') as string,
    });
  });

  it('is PARTIAL when one of two claims is invented, and names the evidence of the other', async () => {
    expect(await judge(`${SALT} Garlic works better.`)).toMatchObject({
      label: 'PARTIAL',
      evidenceIds: ['d1#0'],
    });
  });

  it('is UNSAFE before anything else, even word for word', async () => {
    const text = 'Take 20 mg of it every morning.';
    const verdict = await create().judge(
      quoted(text, ['d1#0']),
      promptOf({ question: 'How?', texts: [text] }),
      signal,
    );
    expect(verdict.label).toBe('UNSAFE');
  });

  it('is a verdict, not a failure, when the encoder fails', async () => {
    const broken = { ...createWordEncoder(), encode: () => Promise.reject(new Error('no memory')) };
    const verdict = await createHeuristicJudge({ textEncoder: broken }).judge(
      quoted('Salt is bad.', []),
      prompt,
      signal,
    );
    expect(verdict.label).toBe('UNSUPPORTED');
  });

  it('compares labels by equality: neither CORRECT nor INCORRECT is a label, and both are judged alike', async () => {
    const choices = ['CORRECT', 'INCORRECT'];
    const exam = promptOf({
      question: 'Which?',
      texts: ['The statement is INCORRECT in most cases.'],
      contract: 'exam',
      choices,
    });
    const answer = (parsed: string): JudgedAnswer => ({
      text: `Correct Option: ${parsed}`,
      chunks: [],
      parsed,
      abstained: false,
    });
    expect((await create().judge(answer('A'), exam, signal)).label).toBe('UNSUPPORTED');
    expect((await create().judge(answer('B'), exam, signal)).label).toBe('SUPPORTED');
  });
});

describe('words of a claim against words of the evidence', () => {
  it('finds numbers in digits and in words', () => {
    expect(numbersOf('1,200 of three; 2.5 and 4.0')).toEqual(['1200', '2.5', '4', '3']);
  });

  it('takes a number from the sentence next to it', () => {
    const context = 'There were 40 adults. Salt lowers pressure.';
    expect(
      compareClaim('Salt lowers pressure in 40.', 'Salt lowers pressure.', context).missingNumbers,
    ).toEqual([]);
    expect(
      compareClaim('Salt lowers pressure in 41.', 'Salt lowers pressure.', context).missingNumbers,
    ).toEqual(['41']);
  });

  it('sees no conflict between sentences about different things', () => {
    expect(compareClaim('Tea is not warm.', SALT, SALT).conflict).toBeNull();
  });

  it('does not take the negation of another clause for one of the claim', () => {
    const sentence = 'The vaccine was effective in 9 of 10 children and had no serious side effects.';
    expect(
      compareClaim('The vaccine was effective in 9 of 10 children.', sentence, sentence).conflict,
    ).toBeNull();
    expect(
      compareClaim('The vaccine was not effective in 9 of 10 children.', sentence, sentence).conflict,
    ).toBe('negation');
  });

  it('sees that a doubt was dropped', () => {
    expect(
      compareClaim('Coffee prevents stroke.', 'It is unclear whether coffee prevents stroke.', '').conflict,
    ).toBe('certainty');
  });

  it('does not count set phrases as negation', () => {
    expect(
      compareClaim('Not only salt lowers blood pressure.', 'Salt lowers blood pressure.', '').conflict,
    ).toBeNull();
  });
});

describe('what must not be shown', () => {
  it.each(JUDGE_CASES.filter(({ label }) => label === 'UNSAFE').map(({ answer }) => answer))(
    'is withheld: %s',
    (answer) => {
      expect(unsafeReason(answer)).not.toBeNull();
    },
  );

  it.each(JUDGE_CASES.filter(({ label }) => label !== 'UNSAFE').map(({ answer }) => answer))(
    'is not: %s',
    (answer) => {
      expect(unsafeReason(answer)).toBeNull();
    },
  );

  it.each([
    'Adults took 20 mg daily for a year.',
    'Call an ambulance when you have chest pain.',
    'You have to tell the doctor about allergies.',
    'Doctors may use 5 ml of contrast agent.',
    'If you have asthma, pollen may be harmful.',
  ])('leaves descriptions and advice to seek help alone: %s', (answer) => {
    expect(unsafeReason(answer)).toBeNull();
  });
});

it('there are at least sixty hand-labelled cases, every label among them', () => {
  expect(JUDGE_CASES.length).toBeGreaterThanOrEqual(60);
  expect(new Set(JUDGE_CASES.map(({ label }) => label)).size).toBe(4);
  expect(new Set(JUDGE_CASES.map(({ answer, texts }) => answer + texts.join())).size).toBe(
    JUDGE_CASES.length,
  );
});
