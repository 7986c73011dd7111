import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Grounding } from '../../server/ground/grounding.js';
import { nextQuery, type NextQueryInput } from '../../server/refine/next-query.js';

const grounding: Grounding = {
  mentions: [],
  corrections: [{ from: 'hypertensoin', to: 'hypertension', score: 0.93 }],
  proposals: [
    {
      from: 'hypertensoin',
      to: 'hypertension',
      termId: 't1',
      phonetic: 1,
      edit: 0.9,
      semantic: 0.8,
      score: 0.93,
      accepted: true,
      reason: '',
    },
    {
      from: 'slat',
      to: 'salt',
      termId: 't2',
      phonetic: 0.4,
      edit: 0.5,
      semantic: 0.1,
      score: 0.3,
      accepted: false,
      reason: 'below',
    },
  ],
  contrasts: [{ a: 'hypertension', b: 'hypotension', kind: 'differs-by', evidenceIds: ['e1'] }],
  gap: null,
};
const none: Grounding = { mentions: [], corrections: [], proposals: [], contrasts: [], gap: null };
const ask = (more: Partial<NextQueryInput>) =>
  nextQuery({
    contract: 'open',
    queryText: 'does slat raise hypertensoin',
    grounding,
    answer: null,
    previous: [],
    ...more,
  });

describe('the query of the next round', () => {
  it('consumes accepted corrections and the other side of contrasts, and says so', () => {
    expect(ask({})).toEqual({
      text: 'does slat raise hypertension hypotension',
      consumes: ['proposal:hypertensoin→hypertension', 'contrast:hypertension/hypotension'],
    });
  });

  it('never consumes a proposal that was not accepted', () => {
    expect(JSON.stringify(ask({}))).not.toContain('salt');
  });

  it('takes what the answer names beyond the question', () => {
    const mentions = [
      { text: 'Amlodipine', term: 'amlodipine', termId: 'x', start: 0, end: 10, where: 'e1' },
    ];
    const answer = 'Answer: Amlodipine lowers it considerably.\nEvidence: [E1]';
    expect(ask({ grounding: { ...none, mentions }, answer })?.consumes).toEqual(['answer:amlodipine']);
    expect(ask({ grounding: none, answer })?.consumes).toEqual(['answer:considerably', 'answer:amlodipine']);
  });

  it('is words of its own in mode speech, where the question has none', () => {
    expect(ask({ queryText: null })).toEqual({
      text: 'hypertension hypotension',
      consumes: ['proposal:hypertensoin→hypertension', 'contrast:hypertension/hypotension'],
    });
  });

  it.each(['Correct Option: B', 'B', 'Answer: yes', 'no', 'Answer: maybe.', ''])(
    'does not exist after %j: no terms, no second round',
    (answer) => expect(ask({ contract: 'yes_no_maybe', answer })).toBeNull(),
  );

  it('never exists for an exam, whatever was found', () => {
    expect(ask({ contract: 'exam', answer: 'Correct Option: B' })).toBeNull();
    expect(ask({ contract: 'exam', answer: null })).toBeNull();
  });

  it('does not ask again what was asked: nothing new, no round', () => {
    const first = ask({});
    expect(ask({ previous: [first?.text ?? ''] })).toBeNull();
    expect(ask({ grounding: none })).toBeNull();
    expect(ask({ grounding: none, answer: 'Answer: Does it raise?\nEvidence: [E1]' })).toBeNull();
    expect(ask({ grounding: null })).toBeNull();
  });

  it('is the same for the same input, names each term once and holds the question', () => {
    const term = fc.constantFrom('hypertension', 'salt', 'tea', 'stroke', 'blood pressure');
    fc.assert(
      fc.property(
        fc.array(fc.tuple(term, term), { maxLength: 6 }),
        fc.array(term, { maxLength: 3 }),
        term,
        (pairs, previous, queryText) => {
          const input: NextQueryInput = {
            contract: 'open',
            queryText,
            grounding: {
              ...none,
              contrasts: pairs.map(([a, b]) => ({ a, b, kind: 'look-alike', evidenceIds: [] })),
            },
            answer: null,
            previous,
          };
          const next = nextQuery(input);
          expect(nextQuery(input)).toEqual(next);
          if (next === null) return;
          expect(next.text.startsWith(queryText)).toBe(true);
          expect(next.consumes.length).toBeGreaterThan(0);
          expect(nextQuery({ ...input, previous: [...previous, next.text] })).toBeNull();
        },
      ),
    );
  });
});
