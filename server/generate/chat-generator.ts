import { INSUFFICIENT_EVIDENCE } from '../../shared/answer-forms.js';
import { splitSentences } from '../../shared/sentences.js';
import type { Prompt } from '../prompt/prompt.js';
import { abortedError } from './abort.js';
import { answerGrammar } from './answer-grammar.js';
import type { ChatModel } from './chat-model.js';
import { resolveLabels, writtenLabels } from './citations.js';
import type { AnswerChunk, Generator } from './generator.js';

/** Tokens of an answer at most: a label needs few, sentences and their evidence line more. */
const MAX_TOKENS = { exam: 24, open: 160, yes_no_maybe: 24 } as const;

/**
 * A generator out of a language model. An open answer is given on sentence by sentence, never in mid-sentence, so that whoever
 * checks it can stop a sentence before it is seen; ids of the evidence line come with the last chunk, those that name nothing
 * visible left out. Without visible evidence the model is not asked: the answer is the abstention.
 */
export function createChatGenerator(model: ChatModel): Generator {
  return {
    id: model.id,
    countTokens: (text) => model.countTokens(text),
    async *generate(prompt, signal) {
      if (signal.aborted) throw abortedError(signal.reason);
      if (prompt.visible.length === 0) {
        yield abstention(INSUFFICIENT_EVIDENCE);
        return;
      }
      const request = {
        messages: prompt.messages,
        maxTokens: MAX_TOKENS[prompt.contract],
        grammar: answerGrammar(prompt),
      };
      let pending = '';
      for await (const piece of model.stream(request, signal)) {
        pending += piece;
        const ready = prompt.contract === 'open' ? finishedPart(pending) : '';
        if (ready === '') continue;
        pending = pending.slice(ready.length);
        yield { text: ready, evidenceIds: [] };
      }
      if (pending !== '') yield lastChunk(pending, prompt);
    },
    close: () => model.close(),
  };
}

/** Everything up to the last sentence that is surely over: one that another has begun after. */
function finishedPart(pending: string): string {
  const sentences = splitSentences(pending);
  const last = sentences.at(-1);
  if (sentences.length < 2 || last === undefined) return '';
  return pending.slice(0, last.start);
}

function lastChunk(text: string, prompt: Prompt): AnswerChunk {
  if (text.trim().replace(/\.$/, '').toLowerCase() === INSUFFICIENT_EVIDENCE) return abstention(text);
  return {
    text,
    evidenceIds: prompt.contract === 'open' ? resolveLabels(writtenLabels(text), prompt.visible).ids : [],
  };
}

function abstention(text: string): AnswerChunk {
  return { text, evidenceIds: [], abstained: true };
}
