import { describe, expect, it } from 'vitest';
import { corpusOf, toQuestion, type AskedQuestion } from '../../bench/rounds-questions.js';
import { outcomeOf } from '../../bench/rounds-turns.js';
import type { OutgoingEvent, StopReason } from '../../shared/protocol.js';
import type { TurnTrace } from '../../server/trace/trace.js';

describe('questions of the rounds bench', () => {
  it('takes the contract from what the file says', () => {
    expect(toQuestion({ id: '1', question: 'Is it so?', answer: 'Yes' })).toMatchObject({
      contract: 'yes_no_maybe',
      gold: 'yes',
      choices: [],
    });
    expect(
      toQuestion({ id: '2', question: 'Which?', options: { B: 'two', A: 'one' }, answer: 'B' }),
    ).toMatchObject({ contract: 'exam', gold: 'B', choices: ['one', 'two'] });
    expect(toQuestion({ id: '3', question: 'Is it?', type: 'yesno', exact: 'no' })).toMatchObject({
      contract: 'yes_no_maybe',
      gold: 'no',
    });
    expect(toQuestion({ id: '4', question: 'What is it?', exact: [['a']] })).toMatchObject({
      contract: 'open',
      gold: null,
    });
  });

  it('asks each file against the corpus it belongs to', () => {
    expect(corpusOf('/data/qa/pubmedqa.jsonl')).toBe('pubmedqa');
    expect(corpusOf('/data/qa/bioasq.jsonl')).toBe('bioasq');
    expect(corpusOf('/data/qa/medqa.jsonl')).toBe('medquad');
  });
});

describe('the outcome of a turn', () => {
  const question: AskedQuestion = {
    id: 'q',
    text: 'Is it so?',
    choices: [],
    contract: 'yes_no_maybe',
    gold: 'yes',
    cluster: 'is it so',
  };
  const answer = (
    text: string,
    change: Partial<Extract<OutgoingEvent, { type: 'answer.done' }>> = {},
  ): OutgoingEvent => ({
    type: 'answer.done',
    turnId: 't',
    round: 1,
    answer: text,
    contract: 'yes_no_maybe',
    parsed: null,
    valid: true,
    abstained: false,
    support: { label: 'SUPPORTED', evidenceIds: [], reason: '', judge: 'j' },
    citations: [],
    ...change,
  });
  const trace = (stopReason: StopReason = 'answered') =>
    ({ stopReason, calls: { generate: 1, retrieve: 2 }, timings: { doneMs: 5 } }) as unknown as TurnTrace;

  it('is the last answer that was said', () => {
    const outcome = outcomeOf(question, [answer('Answer: no'), answer('Answer: yes')], trace());
    expect(outcome).toMatchObject({
      right: 1,
      invalid: 0,
      supported: 1,
      generateCalls: 1,
      retrieveCalls: 2,
      doneMs: 5,
    });
  });

  it('counts an invalid answer as wrong, even when the word is in it', () => {
    const said = [answer('I think yes, it is so', { valid: false })];
    expect(outcomeOf(question, said, trace())).toMatchObject({ right: 0, invalid: 1 });
  });

  it('counts a withheld answer as wrong and not as invalid', () => {
    const said = [answer('Answer: yes', { withheld: 'unsafe', valid: false })];
    expect(outcomeOf(question, said, trace('withheld'))).toMatchObject({ right: 0, invalid: 0 });
  });

  it('counts a turn without an answer as wrong', () => {
    expect(outcomeOf(question, [], trace('failed'))).toMatchObject({ right: 0, failed: 1 });
    expect(outcomeOf(question, [], trace('no_evidence'))).toMatchObject({ right: 0, abstained: 1 });
  });

  it('gives no verdict on a question without a label', () => {
    expect(outcomeOf({ ...question, gold: null }, [answer('Answer: yes')], trace()).right).toBeNaN();
  });
});
