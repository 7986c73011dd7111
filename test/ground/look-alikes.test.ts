import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createEntityGrounder } from '../../server/ground/entity-grounder.js';
import { loadTermList, shippedTermsFolder } from '../../server/ground/term-list.js';
import { sharedData } from '../fixtures/shared-data.js';
import { evidenceOf } from './evidence.js';

const terms = await loadTermList(shippedTermsFolder());
const grounder = createEntityGrounder({ terms });

/** Both ways: the question says one name, the evidence the other. */
async function expectContrast(from: string, to: string): Promise<void> {
  const evidence = [evidenceOf('d#0', `About ${to}.`)];
  const { corrections, contrasts } = await grounder.ground({ evidence, queryText: `What is ${from}?` });
  expect(corrections, `${from} > ${to}`).toEqual([]);
  const [a, b] = [from, to].sort();
  expect(contrasts, `${from} | ${to}`).toContainEqual({ a, b, kind: 'look-alike', evidenceIds: ['d#0'] });
}

describe('the shipped look-alike pairs', () => {
  it('are contrasted and never corrected into each other, in either direction', async () => {
    expect(terms.confusable.pairs.length).toBeGreaterThan(250);
    for (const [a, b] of terms.confusable.pairs) {
      await expectContrast(a, b);
      await expectContrast(b, a);
    }
  });

  it('have no pair that is one drug under two names', () => {
    for (const [a, b] of terms.confusable.pairs) expect(terms.sameDrug.has(a, b), `${a} ${b}`).toBe(false);
    expect(terms.confusable.has('valaciclovir', 'valacyclovir')).toBe(false);
  });
});

describe.skipIf(!sharedData)(
  'the look-alike pairs of the shared data (skipped without ../shared/data)',
  () => {
    it('are never corrected into each other, in either direction', async () => {
      const lines = readFileSync(join(sharedData ?? '', 'terms/look-alike-pairs.tsv'), 'utf8')
        .trim()
        .split('\n')
        .slice(1);
      expect(lines.length).toBe(273);
      const names = new Set(lines.flatMap((line) => line.split('\t').slice(1, 3)));
      for (const name of names) {
        const { corrections } = await grounder.ground({ evidence: [], queryText: `What is ${name}?` });
        expect(corrections, name).toEqual([]);
      }
    });
  },
);
