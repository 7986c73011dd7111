import { AuscultError } from '../../server/errors.js';
import type { Judge, JudgedAnswer, Verdict } from '../../server/refine/judge.js';

export interface FakeJudge extends Judge {
  /** Answers it was given, in order. */
  readonly calls: readonly JudgedAnswer[];
}

/**
 * A judge with a script: the n-th verdict, the last one for ever after; without a script what was cited is SUPPORTED and the
 * rest UNSUPPORTED. Ids that are not visible are left out, as the port says.
 */
export function createFakeJudge(script: readonly Verdict[] = []): FakeJudge {
  const calls: JudgedAnswer[] = [];
  return {
    id: 'fake',
    get calls() {
      return calls;
    },
    async judge(answer, prompt, signal) {
      if (signal.aborted) throw new AuscultError('aborted', { message: 'Judging was cancelled.' });
      calls.push(answer);
      const visible = new Set(prompt.visible.map(({ id }) => id));
      const verdict = script[Math.min(calls.length, script.length) - 1] ?? byCitation(answer);
      return { ...verdict, evidenceIds: verdict.evidenceIds.filter((id) => visible.has(id)) };
    },
  };
}

function byCitation({ chunks, abstained, parsed }: JudgedAnswer): Verdict {
  const evidenceIds = [...new Set(chunks.flatMap((chunk) => chunk.evidenceIds))];
  return abstained || parsed === null || evidenceIds.length === 0
    ? { label: 'UNSUPPORTED', evidenceIds: [], reason: 'Nothing was cited.' }
    : { label: 'SUPPORTED', evidenceIds, reason: 'It was cited.' };
}
