import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../server/clock.js';
import { resolveModelPath } from '../../server/commands/model-catalogue.js';
import { isAbort } from '../../server/errors.js';
import { createChatGenerator } from '../../server/generate/chat-generator.js';
import type { ChatModel } from '../../server/generate/chat-model.js';
import { createLlamaChatModel } from '../../server/generate/llama-generator.js';
import { createOpenAiGenerator } from '../../server/generate/openai-generator.js';
import { CONTRACTS } from '../../server/prompt/contracts.js';
import { collect } from '../contracts/generator.contract.js';
import { eventStream, sendInPieces, startOpenAiStub } from '../fixtures/openai-stub.js';
import { promptOf } from '../fixtures/prompts.js';

const MODEL = resolveModelPath('data', 'smollm2-135m');
const TEXTS = ['Salt restriction lowers blood pressure in adults.'];
/** A small model on a busy machine: minutes, not seconds. */
const PATIENCE_MS = 240_000;

it('says how to fetch a model that is not there', async () => {
  await expect(createLlamaChatModel({ modelPath: '/nowhere/model.gguf' })).rejects.toMatchObject({
    code: 'model_missing',
    message: expect.stringContaining('auscult models get') as string,
  });
});

describe.skipIf(!existsSync(MODEL))(
  `the llama generator (needs ${MODEL}: auscult models get smollm2-135m)`,
  () => {
    let model: ChatModel;
    beforeAll(
      async () => void (model = await createLlamaChatModel({ modelPath: MODEL, threads: 1 })),
      PATIENCE_MS,
    );
    afterAll(() => model.close());

    it(
      'keeps the form of exam, yes/no and open answers, and gives the same answer twice',
      async () => {
        const generator = createChatGenerator(model);
        for (const [contract, choices] of [
          ['exam', ['Bed rest', 'Salt restriction']],
          ['yes_no_maybe', []],
        ] as const) {
          const prompt = promptOf({
            question: 'What lowers blood pressure?',
            texts: TEXTS,
            contract,
            choices,
          });
          const [first, second] = [await collect(generator, prompt), await collect(generator, prompt)];
          expect(CONTRACTS[contract].parse(first.map(({ text }) => text).join(''), choices.length).kind).toBe(
            'answer',
          );
          expect(second).toEqual(first);
        }
      },
      PATIENCE_MS,
    );

    it(
      'cites only visible labels in an open answer',
      async () => {
        const chunks = await collect(
          createChatGenerator(model),
          promptOf({ question: 'What lowers blood pressure?', texts: TEXTS }),
        );
        for (const { evidenceIds } of chunks) for (const id of evidenceIds) expect(id).toBe('d1#0');
        expect(chunks.map(({ text }) => text).join('')).toMatch(/^(?:Answer: \S|insufficient evidence)/);
      },
      PATIENCE_MS,
    );

    it(
      'ends with `aborted` while the prompt is still being read, and answers the next question',
      async () => {
        const prompt = promptOf({ question: 'Does salt matter?', texts: TEXTS, contract: 'yes_no_maybe' });
        const controller = new AbortController();
        const work = collect(createChatGenerator(model), prompt, controller.signal).catch(
          (thrown: unknown) => thrown,
        );
        setImmediate(() => controller.abort());
        expect(isAbort(await work)).toBe(true);
        expect((await collect(createChatGenerator(model), prompt)).length).toBe(1);
      },
      PATIENCE_MS,
    );

    it('counts by its own tokenizer', () => {
      expect(model.countTokens('')).toBe(0);
      expect(model.countTokens('Salt restriction lowers blood pressure.')).toBeLessThan(12);
    });

    it(
      'answers the same behind an OpenAI-shaped endpoint',
      async () => {
        const stub = await startOpenAiStub(async (response, { body }) => {
          const pieces: string[] = [];
          const request = { messages: body.messages as [], maxTokens: body.max_tokens };
          for await (const piece of model.stream(request, new AbortController().signal)) pieces.push(piece);
          await sendInPieces(response, eventStream(pieces), 11);
        });
        const prompt = promptOf({
          question: 'Does salt restriction lower blood pressure?',
          texts: TEXTS,
          contract: 'yes_no_maybe',
        });
        const direct: string[] = [];
        const request = { messages: prompt.messages, maxTokens: 24 };
        for await (const piece of model.stream(request, new AbortController().signal)) direct.push(piece);
        const remote = createOpenAiGenerator({
          baseUrl: stub.baseUrl,
          model: 'smollm2',
          clock: createSystemClock(),
          timeoutMs: PATIENCE_MS,
        });
        expect((await collect(remote, prompt)).map(({ text }) => text).join('')).toBe(direct.join(''));
        await stub.close();
      },
      PATIENCE_MS,
    );

    it(
      'names a file that is no model',
      async () => {
        const folder = await mkdtemp(join(tmpdir(), 'gguf-'));
        await writeFile(join(folder, 'broken.gguf'), 'GGUF but not really');
        await expect(createLlamaChatModel({ modelPath: join(folder, 'broken.gguf') })).rejects.toMatchObject({
          code: 'model_corrupt',
        });
        await rm(folder, { recursive: true });
      },
      PATIENCE_MS,
    );
  },
);
