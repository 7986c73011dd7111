/** Best sub-word unit of each 40 ms step → rough spelling. */
export interface UnitSpelling {
  /** Total: any steps give a text, '' where nothing was heard. */
  spell(steps: ArrayLike<number | bigint>): string;
  /** Units that follow each other, without blanks and repeats → text. */
  join(units: readonly number[]): string;
}

/**
 * CTC's best path (Graves et al. 2006, section 3.2): repeats of the step before are one, 0 is none. `names[i]` is unit i + 1;
 * a unit that begins with `##` goes on with the word before it. The spelling is no transcript: half of its units are wrong; it
 * is made, read by the text encoder and forgotten within one call.
 */
export function createUnitSpelling(names: readonly string[]): UnitSpelling {
  const join = (units: readonly number[]): string => {
    let text = '';
    for (const unit of units) {
      const name = names[unit - 1];
      if (name === undefined) continue;
      if (name.startsWith('##')) text += name.slice(2);
      else text += text === '' ? name : ` ${name}`;
    }
    return text;
  };
  return {
    join,
    spell(steps) {
      const path = Array.from(steps, Number);
      return join(path.filter((unit, at) => unit > 0 && unit !== path[at - 1]));
    },
  };
}
