import { describe, expect, it } from 'vitest';
import { contrastKind, mention, type EvidenceItem } from '../../shared/evidence.js';
import type { Grounder } from '../../server/ground/grounding.js';
import { isAbort } from '../../server/errors.js';
import { evidenceOf } from '../ground/evidence.js';

export interface GrounderContract {
  /** Must know hypertension, hypotension and asthma, and nothing of `zzz`. */
  readonly create: () => Grounder | Promise<Grounder>;
}

const EVIDENCE: EvidenceItem[] = [
  evidenceOf('d1#0', 'Hypertension is treated with thiazides; hypotension is not.'),
  evidenceOf('d2#0', 'Asthma narrows the airways.'),
];

/** What every grounder does. */
export function describeGrounder(name: string, { create }: GrounderContract): void {
  describe(`${name} is a Grounder`, () => {
    it('places every mention in the text that it names', async () => {
      const queryText = 'Is asthma like hypertension?';
      const { mentions } = await (await create()).ground({ evidence: EVIDENCE, queryText });
      expect(mentions.length).toBeGreaterThan(0);
      for (const each of mentions) {
        mention.parse(each);
        const text =
          each.where === 'query' ? queryText : EVIDENCE.find((item) => item.id === each.where)?.text;
        expect(text?.slice(each.start, each.end)).toBe(each.text);
      }
    });

    it('gives at most eight contrasts, from evidence that was given', async () => {
      const { contrasts } = await (await create()).ground({ evidence: EVIDENCE });
      expect(contrasts.length).toBeLessThanOrEqual(8);
      for (const { kind, evidenceIds } of contrasts) {
        contrastKind.parse(kind);
        for (const id of evidenceIds) expect(EVIDENCE.map((item) => item.id)).toContain(id);
      }
    });

    it('shows exactly the accepted proposals as corrections', async () => {
      const { proposals, corrections } = await (
        await create()
      ).ground({ evidence: EVIDENCE, queryText: 'hypertensoin' });
      const accepted = proposals.filter((proposal) => proposal.accepted);
      expect(corrections.map(({ from, to }) => [from, to])).toEqual(
        accepted.map(({ from, to }) => [from, to]),
      );
      for (const { score, reason } of proposals) {
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(1);
        expect(reason).not.toBe('');
      }
    });

    it('never corrects a word that it knows', async () => {
      const { corrections } = await (
        await create()
      ).ground({ evidence: EVIDENCE, queryText: 'hypertension hypotension' });
      expect(corrections).toEqual([]);
    });

    it('answers alike twice', async () => {
      const grounder = await create();
      const input = { evidence: EVIDENCE, queryText: 'hypertensoin or asthma' };
      expect(await grounder.ground(input)).toEqual(await grounder.ground(input));
    });

    it('finds nothing in nothing', async () => {
      const grounding = await (await create()).ground({ evidence: [] });
      expect(grounding).toEqual({ mentions: [], corrections: [], proposals: [], contrasts: [], gap: null });
    });

    it('rejects with `aborted` when the signal is', async () => {
      const grounder = await create();
      const rejection = grounder
        .ground({ evidence: EVIDENCE }, AbortSignal.abort())
        .catch((thrown: unknown) => thrown);
      expect(isAbort(await rejection)).toBe(true);
    });
  });
}
