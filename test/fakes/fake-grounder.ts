import type { Mention } from '../../shared/evidence.js';
import { AuscultError } from '../../server/errors.js';
import type { Grounder, Grounding } from '../../server/ground/grounding.js';

/** Names that the fake knows; whoever tests a line needs no more. */
const KNOWN = ['hypertension', 'hypotension', 'asthma'];
/** The one slip that it puts right. */
const SLIP = { from: 'hypertensoin', to: 'hypertension' };

/** Finds three names by exact spelling, corrects one slip, contrasts one pair; or answers what it is told. */
export function createFakeGrounder(scripted: Partial<Grounding> = {}): Grounder {
  return {
    async ground({ evidence, queryText = '' }, signal) {
      await Promise.resolve();
      if (signal?.aborted) throw new AuscultError('aborted', { message: 'Cancelled.' });
      const slipped = queryText.includes(SLIP.from);
      const mentions = [
        ...mentionsIn(queryText, 'query'),
        ...evidence.flatMap((item) => mentionsIn(item.text, item.id)),
      ];
      const pair = evidence.filter(
        (item) => /hypertension/i.test(item.text) && /hypotension/i.test(item.text),
      );
      const scores = { phonetic: 1, edit: 0.9, semantic: 0, score: 0.9 };
      return {
        mentions,
        corrections: slipped ? [{ ...SLIP, score: 0.9 }] : [],
        proposals: slipped
          ? [{ ...SLIP, termId: 'fake:hypertension', ...scores, accepted: true, reason: 'fake' }]
          : [],
        contrasts: pair.length
          ? [
              {
                a: 'hypertension',
                b: 'hypotension',
                kind: 'differs-by',
                evidenceIds: pair.map((item) => item.id),
              },
            ]
          : [],
        gap: null,
        ...scripted,
      };
    },
  };
}

function mentionsIn(text: string, where: string): Mention[] {
  return KNOWN.flatMap((term) => {
    const start = text.toLowerCase().indexOf(term);
    if (start < 0) return [];
    const end = start + term.length;
    return [{ text: text.slice(start, end), term, termId: `fake:${term}`, start, end, where }];
  });
}
