import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labelsOf, resolveCitations, resolveLabels } from '../../server/generate/citations.js';
import type { VisibleEvidence } from '../../server/prompt/prompt.js';

const visible: VisibleEvidence[] = [
  {
    id: 'salt#0',
    documentId: 'salt',
    title: '',
    snippet: 'Salt raises blood pressure. It does so slowly.',
    speechLinked: false,
  },
  {
    id: 'tea#1',
    documentId: 'tea',
    title: '',
    snippet: 'Green tea lowers it by 2 mmHg.',
    speechLinked: false,
  },
];

describe('citations', () => {
  it('say which words of the evidence carry which sentence of the answer', () => {
    const chunks = [
      { text: 'Answer: ', evidenceIds: [] },
      { text: 'Salt raises blood pressure.', evidenceIds: ['salt#0'], quote: 'Salt raises blood pressure.' },
      {
        text: ' Green tea lowers it by 2 mmHg.',
        evidenceIds: ['tea#1'],
        quote: 'Green tea lowers it by 2 mmHg.',
      },
      { text: '\nEvidence: [E1, E2]', evidenceIds: [] },
    ];
    const answer = chunks.map(({ text }) => text).join('');
    const { citations, unknownIds, unverified } = resolveCitations({ contract: 'open', chunks, visible });
    expect(citations.map(({ evidenceId, start, end }) => [evidenceId, answer.slice(start, end)])).toEqual([
      ['salt#0', 'Salt raises blood pressure.'],
      ['tea#1', 'Green tea lowers it by 2 mmHg.'],
    ]);
    expect([unknownIds, unverified]).toEqual([[], 0]);
  });

  it('of an evidence line count for each sentence that shares words with the evidence', () => {
    const chunks = [
      { text: 'Answer: Pressure is raised by salt. Green tea is different. Moon.', evidenceIds: [] },
      { text: '\nEvidence: [E1, E2]', evidenceIds: ['salt#0', 'tea#1'] },
    ];
    const { citations, unverified } = resolveCitations({ contract: 'open', chunks, visible });
    expect(citations.map(({ evidenceId, quote }) => [evidenceId, quote])).toEqual([
      ['salt#0', 'Salt raises blood pressure.'],
      ['tea#1', 'Green tea lowers it by 2 mmHg.'],
    ]);
    expect(unverified).toBe(4);
  });

  it('to what was not visible are dropped and counted', () => {
    const chunks = [
      { text: 'Correct Option: B', evidenceIds: ['dropped#3', 'dropped#3', 'salt#0'], quote: 'Salt raises' },
    ];
    const { citations, unknownIds } = resolveCitations({ contract: 'exam', chunks, visible });
    expect(unknownIds).toEqual(['dropped#3']);
    expect(citations).toEqual([{ evidenceId: 'salt#0', quote: 'Salt raises', start: 0, end: 17 }]);
  });

  it('count labels of the evidence line that name nothing visible', () => {
    const chunks = [{ text: 'Answer: Salt raises pressure.\nEvidence: [E1, E7]', evidenceIds: ['salt#0'] }];
    expect(resolveCitations({ contract: 'open', chunks, visible }).unknownIds).toEqual(['E7']);
  });

  it('with a quote that is not verbatim are dropped and counted, not repaired', () => {
    for (const quote of [
      'Salt lowers blood pressure.',
      'salt raises blood pressure.',
      '',
      ' ',
      'Green tea',
    ]) {
      const chunks = [{ text: 'Salt raises blood pressure.', evidenceIds: ['salt#0'], quote }];
      const { citations, unverified } = resolveCitations({ contract: 'open', chunks, visible });
      expect(citations).toEqual([]);
      expect(unverified).toBe(1);
    }
  });

  it('never name hidden evidence, quote other words or leave the answer, whatever the chunks say', () => {
    const chunk = fc.record(
      {
        text: fc.oneof(
          fc.constantFrom('Answer: ', 'Salt raises it. ', '\nEvidence: [E1]', 'Green tea'),
          fc.string({ maxLength: 30 }),
        ),
        evidenceIds: fc.array(fc.constantFrom('salt#0', 'tea#1', 'hidden#2', 'E1'), { maxLength: 3 }),
        quote: fc.constantFrom('Salt raises', 'made up', ''),
      },
      { requiredKeys: ['text', 'evidenceIds'] },
    );
    fc.assert(
      fc.property(
        fc.array(chunk, { maxLength: 6 }),
        fc.constantFrom('open', 'exam', 'yes_no_maybe'),
        (chunks, contract) => {
          const answer = chunks.map(({ text }) => text).join('');
          const result = resolveCitations({ contract: contract, chunks, visible });
          for (const { evidenceId, quote, start, end } of result.citations) {
            expect(visible.find(({ id }) => id === evidenceId)?.snippet).toContain(quote);
            expect(start).toBeLessThan(end);
            expect(end).toBeLessThanOrEqual(answer.length);
          }
        },
      ),
    );
  });
});

describe('labels', () => {
  it('name visible evidence by its place', () => {
    expect(resolveLabels(['E2', 'E1', 'E2'], visible)).toEqual({ ids: ['tea#1', 'salt#0'], unknown: [] });
    expect(resolveLabels(['E3', 'E0', 'salt#0', 'e1', 'E01'], visible)).toEqual({
      ids: [],
      unknown: ['E3', 'E0', 'salt#0', 'e1', 'E01'],
    });
    expect(labelsOf(['tea#1', 'hidden'], visible)).toEqual(['E2']);
  });
});
