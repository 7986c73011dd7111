import type { UnitTrigram } from './unit-trigram.js';

export interface BeamSettings {
  /** Weight of the trigram beside the sound; 0 ignores it. */
  readonly share: number;
  /** Added for every unit, against the trigram's preference for short texts. */
  readonly bonus: number;
  /** Prefixes kept after each step, ≥ 1. */
  readonly width: number;
  /** Log-probability below which a candidate is not looked at. */
  readonly lowest: number;
}

/** Chosen on the development voice (models/build/beam.py). */
export const BEAM_SETTINGS: BeamSettings = { share: 0.4, bonus: 4, width: 12, lowest: -7 };

/** The likeliest units of each 40 ms step, row-major [steps, perStep], best first, 0 = blank; scores are log-probabilities. */
export interface UnitCandidates {
  readonly units: ArrayLike<number | bigint>;
  readonly scores: ArrayLike<number>;
  readonly perStep: number;
}

/** A prefix is its last unit and the prefix before it: equal prefixes are the same object. */
interface Prefix {
  readonly unit: number;
  readonly parent: Prefix | null;
  readonly next: Map<number, Prefix>;
}

interface Score {
  /** Log-probability of the prefix when the last step was blank, and when it was the prefix's last unit. */
  inBlank: number;
  inUnit: number;
  /** What the trigram and the bonus say of it. */
  readonly text: number;
}

/**
 * Prefix beam search (Hannun et al. 2014, algorithm 1) with a trigram of units: the spelling that is likeliest by sound and by
 * what people say. Gives units, ends not included.
 */
export function searchUnits(
  candidates: UnitCandidates,
  trigram: UnitTrigram,
  settings: BeamSettings = BEAM_SETTINGS,
): number[] {
  const root: Prefix = { unit: 0, parent: { unit: 0, parent: null, next: new Map() }, next: new Map() };
  let beam = new Map<Prefix, Score>([[root, { inBlank: 0, inUnit: -Infinity, text: 0 }]]);
  const steps = Math.floor(candidates.units.length / candidates.perStep);
  for (let step = 0; step < steps; step += 1)
    beam = advance(beam, stepOf(candidates, step), { trigram, settings });
  let best = root;
  let bestTotal = -Infinity;
  for (const [prefix, score] of beam) {
    const total =
      totalOf(score) + settings.share * trigram.logProbability(prefix.parent?.unit ?? 0, prefix.unit, 0);
    if (total > bestTotal) [best, bestTotal] = [prefix, total];
  }
  return unitsOf(best, root);
}

interface Step {
  readonly blank: number;
  readonly units: ReadonlyArray<readonly [unit: number, score: number]>;
}

function stepOf({ units, scores, perStep }: UnitCandidates, step: number): Step {
  const pairs = Array.from({ length: perStep }, (_, i) => {
    const at = step * perStep + i;
    return [Number(units[at] ?? 0), scores[at] ?? -Infinity] as const;
  });
  // A blank that is not among the candidates is at most as likely as the last of them.
  const blank = pairs.find(([unit]) => unit === 0)?.[1] ?? pairs.at(-1)?.[1] ?? -Infinity;
  return { blank, units: pairs.filter(([unit]) => unit !== 0) };
}

interface Search {
  readonly trigram: UnitTrigram;
  readonly settings: BeamSettings;
}

function advance(
  beam: ReadonlyMap<Prefix, Score>,
  step: Step,
  { trigram, settings }: Search,
): Map<Prefix, Score> {
  const grown = new Map<Prefix, Score>();
  const put = (prefix: Prefix, inBlank: number, inUnit: number, text: number): void => {
    const score = grown.get(prefix);
    if (!score) return void grown.set(prefix, { inBlank, inUnit, text });
    score.inBlank = logAdd(score.inBlank, inBlank);
    score.inUnit = logAdd(score.inUnit, inUnit);
  };
  for (const [prefix, { inBlank, inUnit, text }] of beam) {
    const either = logAdd(inBlank, inUnit);
    put(prefix, either + step.blank, -Infinity, text);
    for (const [unit, score] of step.units) {
      if (score < settings.lowest) continue;
      const same = unit === prefix.unit;
      if (same) put(prefix, -Infinity, inUnit + score, text);
      const before = same ? inBlank : either;
      if (before === -Infinity) continue;
      const said =
        settings.share * trigram.logProbability(prefix.parent?.unit ?? 0, prefix.unit, unit) + settings.bonus;
      put(childOf(prefix, unit), -Infinity, before + score, text + said);
    }
  }
  const ranked = [...grown].sort(([, a], [, b]) => totalOf(b) - totalOf(a));
  return new Map(ranked.slice(0, settings.width));
}

function childOf(prefix: Prefix, unit: number): Prefix {
  const known = prefix.next.get(unit);
  if (known) return known;
  const child: Prefix = { unit, parent: prefix, next: new Map() };
  prefix.next.set(unit, child);
  return child;
}

function unitsOf(last: Prefix, root: Prefix): number[] {
  const units: number[] = [];
  for (let prefix: Prefix | null = last; prefix && prefix !== root; prefix = prefix.parent)
    units.push(prefix.unit);
  return units.reverse();
}

const totalOf = ({ inBlank, inUnit, text }: Score): number => logAdd(inBlank, inUnit) + text;

/** log(exp x + exp y). */
function logAdd(x: number, y: number): number {
  const [low, high] = x < y ? [x, y] : [y, x];
  return low === -Infinity ? high : high + Math.log1p(Math.exp(low - high));
}
