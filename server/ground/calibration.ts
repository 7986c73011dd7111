/** Weights of a logistic model over the similarities of a word and a candidate. */
export interface Coefficients {
  readonly bias: number;
  readonly edit: number;
  readonly phonetic: number;
  /** 0 in the model for want of a text encoder. */
  readonly semantic: number;
  /** Of ln(1 + number of terms with the candidate word): a usual word is the likelier meaning. */
  readonly uses: number;
  /** Of ln(letters of the shorter word): one wrong letter of twelve says less than one of five, beyond the ratio. */
  readonly length: number;
  /** Of beginning with the same letter, 0 or 1: people seldom err in the first. */
  readonly first: number;
}

export interface Calibration {
  readonly withSemantic: Coefficients;
  readonly withoutSemantic: Coefficients;
  /** Score from which a correction is accepted, by model. */
  readonly threshold: { readonly withSemantic: number; readonly withoutSemantic: number };
  /** Log-odds by which the best candidate must lead the next one that means something else, by model. */
  readonly margin: { readonly withSemantic: number; readonly withoutSemantic: number };
  readonly provenance: {
    readonly date: string;
    readonly command: string;
    readonly seed: number;
    readonly examples: Readonly<Record<string, number>>;
    readonly textEncoder: string | null;
  };
}

/** Written by the command named in `provenance`; do not edit by hand. */
export const CALIBRATION: Calibration = {
  withSemantic: { bias: -16, edit: 12, phonetic: 5, semantic: 3, uses: 0.2, length: 1, first: 0 },
  withoutSemantic: { bias: -15, edit: 12, phonetic: 5, semantic: 0, uses: 0.2, length: 1, first: 0 },
  threshold: { withSemantic: 0.5, withoutSemantic: 0.5 },
  margin: { withSemantic: 1, withoutSemantic: 1 },
  provenance: { date: 'none', command: 'none', seed: 0, examples: {}, textEncoder: null },
};
