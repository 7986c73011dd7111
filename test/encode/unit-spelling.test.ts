import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createUnitSpelling } from '../../server/encode/unit-spelling.js';

const UNITS = ['what', 'is', 'hyper', '##tension', 'a'];

describe('spelling the best path', () => {
  const { spell } = createUnitSpelling(UNITS);

  it('drops repeats and blanks and joins pieces', () => {
    expect(spell([0, 1, 1, 0, 2, 2, 0, 0, 3, 4, 4, 0])).toBe('what is hypertension');
  });

  it('keeps a unit that comes again after a blank', () => {
    expect(spell([5, 0, 5])).toBe('a a');
  });

  it('spells nothing where nothing was heard, and reads int64 steps', () => {
    expect(spell([0, 0, 0])).toBe('');
    expect(spell(BigInt64Array.of(1n, 0n, 2n))).toBe('what is');
  });

  it('is total and never longer than one unit a step', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -1, max: 9 })), (steps) => {
        const text = spell(steps);
        expect(text.split(' ').filter(Boolean).length).toBeLessThanOrEqual(steps.length);
      }),
    );
  });
});
