import { describe, expect, it } from 'vitest';
import { isAbort } from '../../server/errors.js';
import type { AnswerChunk, Generator } from '../../server/generate/generator.js';
import { CONTRACTS } from '../../server/prompt/contracts.js';
import type { Prompt } from '../../server/prompt/prompt.js';
import { promptOf } from '../fixtures/prompts.js';

const TEXTS = [
  'Thiazide diuretics lower blood pressure in most adults with hypertension.',
  'A study of 120 adults found that salt restriction lowers blood pressure.',
];

export interface GeneratorContract {
  readonly create: () => Promise<Generator> | Generator;
  /** A generator whose engine never answers: what the abort cases wait on. */
  readonly createHanging: () => Promise<Generator> | Generator;
  /** Small models break the form now and then; false leaves the form to their own tests. */
  readonly keepsForm?: boolean;
}

/** What every generator does, whatever answers inside. */
export function describeGenerator(
  name: string,
  { create, createHanging, keepsForm = true }: GeneratorContract,
): void {
  describe(`${name} is a Generator`, () => {
    it.each([
      ['open', []],
      ['exam', ['a thiazide diuretic', 'a loop of bowel']],
      ['yes_no_maybe', []],
    ] as const)('answers in the form of the contract %s, or abstains', async (contract, choices) => {
      const generator = await create();
      const prompt = promptOf({
        question: 'Do thiazide diuretics lower blood pressure?',
        texts: TEXTS,
        contract,
        choices,
      });
      const chunks = await collect(generator, prompt);
      const answer = chunks.map(({ text }) => text).join('');
      const parsed = CONTRACTS[contract].parse(answer, choices.length);
      expect(answer).not.toBe('');
      if (keepsForm) expect(parsed.kind).not.toBe('invalid');
      await generator.close();
    });

    it('cites nothing but visible evidence', async () => {
      const generator = await create();
      const prompt = promptOf({ question: 'What lowers blood pressure?', texts: TEXTS });
      const visible = prompt.visible.map(({ id }) => id);
      const chunks = await collect(generator, prompt);
      for (const { evidenceIds, quote } of chunks) {
        for (const id of evidenceIds) expect(visible).toContain(id);
        if (quote !== undefined)
          expect(prompt.visible.some(({ snippet }) => snippet.includes(quote))).toBe(true);
      }
      await generator.close();
    });

    it('does not start for a signal that is aborted already', async () => {
      const generator = await create();
      const prompt = promptOf({ question: 'What lowers blood pressure?', texts: TEXTS });
      const failure = await collect(generator, prompt, AbortSignal.abort()).catch(
        (thrown: unknown) => thrown,
      );
      expect(isAbort(failure)).toBe(true);
      await generator.close();
    });

    it('ends with `aborted` although its engine never answers', async () => {
      const generator = await createHanging();
      const controller = new AbortController();
      const prompt = promptOf({ question: 'What lowers blood pressure?', texts: TEXTS });
      const work = collect(generator, prompt, controller.signal).catch((thrown: unknown) => thrown);
      setImmediate(() => controller.abort());
      expect(isAbort(await work)).toBe(true);
      await generator.close();
    });

    it('counts tokens: none in nothing, more in more', async () => {
      const generator = await create();
      expect(generator.countTokens('')).toBe(0);
      const one = generator.countTokens('hypertension');
      expect(one).toBeGreaterThan(0);
      expect(generator.countTokens('hypertension '.repeat(50))).toBeGreaterThanOrEqual(one * 20);
      await generator.close();
    });
  });
}

/** All chunks of an answer. */
export async function collect(
  generator: Generator,
  prompt: Prompt,
  signal: AbortSignal = new AbortController().signal,
): Promise<AnswerChunk[]> {
  const chunks: AnswerChunk[] = [];
  for await (const chunk of generator.generate(prompt, signal)) chunks.push(chunk);
  return chunks;
}
