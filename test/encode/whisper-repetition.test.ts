import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loopStart } from '../../server/encode/words-repetition.js';

/** The guard as its sentence says it, without regard to cost. */
function naiveLoopStart(ids: readonly number[]): number | null {
  for (let size = 1; size <= ids.length; size++) {
    const times = size >= 4 ? 2 : 4;
    if (size * times > ids.length) continue;
    const piece = ids.slice(-size).join();
    const rounds = Array.from({ length: times }, (_, back) => {
      const end = ids.length - back * size;
      return ids.slice(end - size, end).join();
    });
    if (rounds.every((round) => round === piece)) return ids.length - size * (times - 1);
  }
  return null;
}

describe('the repetition guard', () => {
  it.each([
    ['a sentence said again', [1, 2, 3, 4, 1, 2, 3, 4], 4],
    ['a sentence said again after another', [9, 8, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5], 7],
    ['one token for ever', [7, 5, 5, 5, 5], 2],
    ['a pair for ever', [1, 2, 1, 2, 1, 2, 1, 2], 2],
  ])('cuts %s to one round', (_, ids, length) => {
    expect(loopStart(ids)).toBe(length);
  });

  it.each([
    ['nothing', []],
    ['a word said three times', [5, 5, 5]],
    ['a pair said three times', [1, 2, 1, 2, 1, 2]],
    ['a sentence whose repetition has one other word', [1, 2, 3, 4, 1, 2, 3, 5]],
    ['a loop that was left again', [1, 2, 3, 4, 1, 2, 3, 4, 9]],
  ])('leaves %s alone', (_, ids) => {
    expect(loopStart(ids)).toBeNull();
  });

  it('agrees with comparing every piece with every other', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 24 }), (ids) => {
        expect(loopStart(ids)).toBe(naiveLoopStart(ids));
      }),
    );
  });

  it('lets no list grow that repeats for ever, whatever is repeated', () => {
    const piece = fc.array(fc.integer({ min: 0, max: 50_000 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(piece, (repeated) => {
        const ids: number[] = [];
        for (let at = 0; at < repeated.length * 4; at++) {
          ids.push(repeated[at % repeated.length] ?? 0);
          if (loopStart(ids) !== null) return;
        }
        expect.fail(`no cut in ${ids.join()}`);
      }),
    );
  });
});
