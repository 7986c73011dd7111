import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CONTRACTS,
  describeParsed,
  parseExam,
  parseOpen,
  parseYesNoMaybe,
  readableAnswer,
  scoreAnswer,
} from '../../server/prompt/contracts.js';
import { contractName } from '../../shared/protocol.js';

const LETTERS = 'ABCDEFGHIJKL'.split('');

describe('the contract `exam`', () => {
  it('reads one letter after its prefix', () => {
    expect(parseExam('Correct Option: B', 4)).toEqual({ kind: 'answer', value: 'B', labels: [] });
    expect(parseExam(' correct option:  D.\n', 4)).toEqual({ kind: 'answer', value: 'D', labels: [] });
  });

  it.each([
    'B',
    'Correct Option: b',
    'Incorrect Option: B',
    'Correct Option: B or C',
    'Correct Option: B\nCorrect Option: C',
    'Correct Option: E',
    'The Correct Option: B',
    'Correct Option: Bacteria',
    'Correct Option: B, because of salt',
    'CORRECT',
    '',
  ])('leaves %j invalid and wrong', (answer) => {
    const parsed = parseExam(answer, 4);
    expect(parsed.kind).toBe('invalid');
    for (const letter of LETTERS) expect(scoreAnswer(parsed, letter)).toBe(false);
  });
});

describe('the contract `yes_no_maybe`', () => {
  it.each(['yes', 'no', 'maybe'])('reads %s', (word) => {
    expect(parseYesNoMaybe(`Answer: ${word}`)).toEqual({ kind: 'answer', value: word, labels: [] });
    expect(parseYesNoMaybe(`answer: ${word.toUpperCase()}.`)).toEqual({
      kind: 'answer',
      value: word,
      labels: [],
    });
  });

  it.each([
    'yes',
    'Answer: yes and no',
    'Answer: not',
    'Answer: yes\nEvidence: [E1]',
    'Answer: unknown',
    'Answer:',
  ])('leaves %j invalid', (answer) => expect(parseYesNoMaybe(answer).kind).toBe('invalid'));
});

describe('the contract `open`', () => {
  it('reads the answer and its labels', () => {
    expect(parseOpen('Answer: Salt raises pressure.\nEvidence: [E1, E3, E1]')).toEqual({
      kind: 'answer',
      value: 'Salt raises pressure.',
      labels: ['E1', 'E3'],
    });
  });

  it.each([
    'Salt raises pressure.',
    'Answer: Salt raises pressure.',
    'Answer: Evidence: [E1]',
    'Answer: Salt. Evidence: []',
    'Answer: Salt. Evidence: [E0]',
    'Answer: Salt. Evidence: [E1; E2]',
    'Answer: Salt. Evidence: [all]',
    'Answer: Salt. Evidence: E1',
    'Answer: Salt. Evidence: [E1] and more',
  ])('leaves %j invalid', (answer) => expect(parseOpen(answer).kind).toBe('invalid'));

  it('is read and spoken without its frame, also while it still streams', () => {
    expect(readableAnswer('open', 'Answer: Salt.\nEvidence: [E1]')).toBe('Salt.');
    expect(readableAnswer('open', 'Answer: Salt.\nEvidence: [E1')).toBe('Salt.');
    expect(readableAnswer('open', 'Answer: Salt.\nEvidence:')).toBe('Salt.');
    expect(readableAnswer('open', 'No frame at all.')).toBe('No frame at all.');
    expect(readableAnswer('open', 'Answer: The evidence: mixed.\nEvidence: [E2]')).toBe(
      'The evidence: mixed.',
    );
  });
});

describe('every contract', () => {
  it.each(contractName.options)('%s knows the abstention', (name) => {
    for (const text of ['insufficient evidence', 'Insufficient evidence.', 'Answer: insufficient evidence'])
      expect(CONTRACTS[name].parse(text, 4)).toEqual({ kind: 'abstained' });
    expect(CONTRACTS[name].parse('There is insufficient evidence to say.', 4).kind).toBe('invalid');
  });

  it.each(contractName.options)(
    '%s has a total parser: any text is an answer, an abstention or invalid',
    (name) => {
      const pieces = fc.constantFrom(
        'Answer:',
        'Correct Option:',
        'Evidence:',
        '[E1]',
        '[',
        ']',
        'yes',
        'B',
        '\n',
        ' ',
        ',',
        'insufficient evidence',
        '.',
        'é',
      );
      const text = fc.oneof(
        fc.string(),
        fc.array(pieces, { maxLength: 10 }).map((parts) => parts.join('')),
      );
      fc.assert(
        fc.property(text, fc.nat({ max: 12 }), (answer, choices) => {
          const parsed = CONTRACTS[name].parse(answer, choices);
          const { parsed: value, valid, abstained } = describeParsed(parsed);
          expect(value !== null).toBe(valid && !abstained);
          if (parsed.kind === 'answer') expect(parsed.value).not.toBe('');
          if (parsed.kind === 'invalid') expect(parsed.reason).not.toBe('');
        }),
      );
    },
  );

  it('exam: reads every letter that there is and no other', () => {
    fc.assert(
      fc.property(fc.constantFrom(...LETTERS), fc.integer({ min: 1, max: 12 }), (letter, choices) => {
        const parsed = parseExam(`Correct Option: ${letter}`, choices);
        expect(parsed.kind).toBe(LETTERS.indexOf(letter) < choices ? 'answer' : 'invalid');
      }),
    );
  });
});

describe('scoring', () => {
  it('compares labels by equality: INCORRECT is not CORRECT', () => {
    const incorrect = { kind: 'answer', value: 'INCORRECT', labels: [] } as const;
    expect(scoreAnswer(incorrect, 'CORRECT')).toBe(false);
    expect(scoreAnswer(incorrect, 'incorrect')).toBe(true);
    expect(scoreAnswer({ kind: 'answer', value: 'no', labels: [] }, 'not known')).toBe(false);
  });

  it('gives an abstention or an invalid answer nothing', () => {
    expect(scoreAnswer({ kind: 'abstained' }, 'insufficient evidence')).toBe(false);
    expect(scoreAnswer({ kind: 'invalid', reason: 'x' }, 'x')).toBe(false);
  });
});
