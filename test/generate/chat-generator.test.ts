import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerGrammar } from '../../server/generate/answer-grammar.js';
import { createChatGenerator } from '../../server/generate/chat-generator.js';
import type { ChatModel } from '../../server/generate/chat-model.js';
import { createTextChannel } from '../../server/generate/text-channel.js';
import { isAbort } from '../../server/errors.js';
import { collect } from '../contracts/generator.contract.js';
import { promptOf } from '../fixtures/prompts.js';

const prompt = promptOf({
  question: 'What lowers it?',
  texts: ['Salt restriction lowers it.', 'Tea does not.'],
});

function saying(pieces: readonly string[]): ChatModel {
  return {
    id: 'saying',
    countTokens: (text) => text.length,
    async *stream() {
      yield* pieces;
    },
    async close() {},
  };
}

describe('a language model as a generator', () => {
  it('gives sentences on whole, whatever the pieces, and loses no character', async () => {
    const text = 'Answer: Salt lowers it. Tea does not. It is e.g. warm.\nEvidence: [E1, E2]';
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 40 }),
        async (sizes) => {
          const pieces: string[] = [];
          for (let at = 0, index = 0; at < text.length; index += 1) {
            const size = sizes[index % sizes.length] ?? 1;
            pieces.push(text.slice(at, at + size));
            at += size;
          }
          const chunks = await collect(createChatGenerator(saying(pieces)), prompt);
          expect(chunks.map((chunk) => chunk.text).join('')).toBe(text);
          for (const chunk of chunks.slice(0, -1)) expect(chunk.text).toMatch(/[.]\s+$/);
          expect(chunks.at(-1)?.evidenceIds).toEqual(['d1#0', 'd2#0']);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('leaves a broken form as it is', async () => {
    const chunks = await collect(createChatGenerator(saying(['I think it is salt.'])), prompt);
    expect(chunks).toEqual([{ text: 'I think it is salt.', evidenceIds: [] }]);
  });
});

describe('the grammar of an answer', () => {
  it('allows the letters and labels that there are and no others', () => {
    const exam = { contract: 'exam' as const, choices: ['a', 'b', 'c'], visible: [] };
    expect(answerGrammar(exam)).toBe('root ::= "Correct Option: " [A-C]');
    expect(answerGrammar({ ...exam, contract: 'yes_no_maybe' })).toBe(
      'root ::= "Answer: " ("yes" | "no" | "maybe")',
    );
    expect(answerGrammar(prompt)).toContain('label ::= "E1" | "E2"');
    expect(answerGrammar(prompt)).toContain('"\\nEvidence: ["');
  });
});

describe('a channel of text', () => {
  it('gives pieces in order, those from before and after the reader came, then ends', async () => {
    const channel = createTextChannel(new AbortController().signal);
    channel.push('a');
    setImmediate(() => {
      channel.push('b');
      channel.end();
      channel.push('late');
    });
    const read: string[] = [];
    for await (const piece of channel.read()) read.push(piece);
    expect(read).toEqual(['a', 'b']);
  });

  it('ends with the failure, or at once with `aborted`', async () => {
    const failing = createTextChannel(new AbortController().signal);
    failing.fail(new Error('broken'));
    await expect(failing.read()[Symbol.asyncIterator]().next()).rejects.toThrow('broken');
    const controller = new AbortController();
    const next = createTextChannel(controller.signal).read()[Symbol.asyncIterator]().next();
    controller.abort();
    expect(
      isAbort(
        await next.then(
          () => null,
          (thrown: unknown) => thrown,
        ),
      ),
    ).toBe(true);
  });
});
