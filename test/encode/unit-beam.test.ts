import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { searchUnits } from '../../server/encode/unit-beam.js';
import { readUnitTrigram, type UnitTrigram } from '../../server/encode/unit-trigram.js';

const SILENT: UnitTrigram = { logProbability: () => 0 };
const PLAIN = { share: 0, bonus: 0, width: 200, lowest: -50 };

/** Probability of every text of up to three units, by adding up all paths. */
function oracle(steps: readonly (readonly number[])[]): string {
  const texts = new Map<string, number>();
  const walk = (step: number, before: number, text: readonly number[], p: number): void => {
    const row = steps[step];
    if (!row) return void texts.set(text.join(), (texts.get(text.join()) ?? 0) + p);
    row.forEach((share, unit) =>
      walk(step + 1, unit, unit === 0 || unit === before ? text : [...text, unit], p * share),
    );
  };
  walk(0, 0, [], 1);
  return [...texts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? '';
}

function candidatesOf(steps: readonly (readonly number[])[]) {
  const ranked = steps.map((row) =>
    row.map((share, unit) => [unit, Math.log(share)] as const).sort((a, b) => b[1] - a[1]),
  );
  return {
    units: ranked.flatMap((row) => row.map(([unit]) => unit)),
    scores: ranked.flatMap((row) => row.map(([, score]) => score)),
    perStep: steps[0]?.length ?? 1,
  };
}

describe('searching the units of an utterance', () => {
  it('adds up all paths of a text, where the single best path would say nothing', () => {
    // Blank is the best of each step, yet unit 1 somewhere is likelier than nothing at all.
    const steps = [
      [0.6, 0.4],
      [0.6, 0.4],
    ];
    expect(searchUnits(candidatesOf(steps), SILENT, PLAIN)).toEqual([1]);
  });

  it('agrees with the sum over all paths on small random inputs', () => {
    const share = fc.integer({ min: 1, max: 20 });
    const row = fc
      .tuple(share, share, share)
      .map((all) => all.map((one) => one / all.reduce((a, b) => a + b, 0)));
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 5 }), (steps) => {
        const found = searchUnits(candidatesOf(steps), SILENT, PLAIN);
        const probability = (text: string): number => {
          const clone = new Map<string, number>();
          const walk = (step: number, before: number, said: readonly number[], p: number): void => {
            const now = steps[step];
            if (!now) return void clone.set(said.join(), (clone.get(said.join()) ?? 0) + p);
            now.forEach((s, unit) =>
              walk(step + 1, unit, unit === 0 || unit === before ? said : [...said, unit], p * s),
            );
          };
          walk(0, 0, [], 1);
          return clone.get(text) ?? 0;
        };
        expect(probability(found.join())).toBeCloseTo(probability(oracle(steps)), 10);
      }),
      { numRuns: 100 },
    );
  });

  it('lets the trigram decide where the sound does not', () => {
    const steps = [[0.02, 0.49, 0.49]];
    const prefers = (wanted: number): UnitTrigram => ({
      logProbability: (_a, _b, c) => (c === wanted || c === 0 ? 0 : -5),
    });
    expect(searchUnits(candidatesOf(steps), prefers(1))).toEqual([1]);
    expect(searchUnits(candidatesOf(steps), prefers(2))).toEqual([2]);
  });

  it('gives nothing for masked steps, whose candidates are all blank', () => {
    expect(searchUnits({ units: [0, 0, 0, 0], scores: [0, 0, 0, 0], perStep: 2 }, SILENT)).toEqual([]);
  });
});

describe('the unit trigram', () => {
  /** K = 3; p(c) by table, one bigram 1→2, one trigram 0,1→2, one pair back-off (2,1). */
  function file(): Uint8Array {
    const bytes = new Uint8Array(4 + 24 + 3 * 16);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, 3, true);
    [-1, -2, -3, -0.1, -0.2, -0.3].forEach((value, i) => view.setFloat32(4 + 4 * i, value, true));
    [
      [1 * 3 + 2, -0.5],
      [(0 * 3 + 1) * 3 + 2, -0.25],
      [2 * 3 + 1, -0.75],
    ].forEach(([key = 0, value = 0], i) => {
      view.setUint32(28 + 16 * i, 1, true);
      view.setFloat64(32 + 16 * i, key, true);
      view.setFloat32(40 + 16 * i, value, true);
    });
    return bytes;
  }

  it('takes the trigram, else the bigram, else the single unit, with back-offs', () => {
    const { logProbability } = readUnitTrigram(file());
    expect(logProbability(0, 1, 2)).toBeCloseTo(-0.25, 6);
    expect(logProbability(2, 1, 2)).toBeCloseTo(-0.75 - 0.5, 6);
    expect(logProbability(2, 1, 0)).toBeCloseTo(-0.75 - 0.2 - 1, 6);
  });

  it('refuses a file that is cut or too long', () => {
    expect(() => readUnitTrigram(file().slice(0, 50))).toThrow(/trigram/);
    expect(() => readUnitTrigram(new Uint8Array([...file(), 0]))).toThrow(/trigram/);
  });
});
