/** Best sub-word unit of each 40 ms step → rough spelling. */
export interface UnitSpelling {
  /** Total: any steps give a text, '' where nothing was heard. */
  spell(steps: ArrayLike<number | bigint>): string;
}

/**
 * CTC's best path (Graves et al. 2006, section 3.2): repeats of the step before are one, 0 is none. `units[i]` is unit i + 1;
 * a unit that begins with `##` goes on with the word before it. The spelling is no transcript: half of its units are wrong; it
 * is made, read by the text encoder and forgotten within one call.
 */
export function createUnitSpelling(units: readonly string[]): UnitSpelling {
  return {
    spell(steps) {
      let text = '';
      let before = 0;
      for (const step of Array.from(steps, Number)) {
        const unit = step !== before && step > 0 ? units[step - 1] : undefined;
        before = step;
        if (unit === undefined) continue;
        if (unit.startsWith('##')) text += unit.slice(2);
        else text += text === '' ? unit : ` ${unit}`;
      }
      return text;
    },
  };
}
