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
  withSemantic: {
    bias: -22.731,
    edit: 15.3258,
    phonetic: 7.5781,
    semantic: 1.426,
    uses: 0.591,
    length: 0.2629,
    first: 1.1434,
  },
  withoutSemantic: {
    bias: -23.4171,
    edit: 16.2349,
    phonetic: 7.4634,
    semantic: 0,
    uses: 0.598,
    length: 0.5918,
    first: 1.2978,
  },
  threshold: {
    withSemantic: 0.75,
    withoutSemantic: 0.65,
  },
  margin: {
    withSemantic: 2,
    withoutSemantic: 3,
  },
  provenance: {
    date: '2026-11-30',
    command: 'bench/entities.ts --calibrate --write',
    seed: 20261,
    examples: {
      mistyped: 859,
      'by ear': 811,
      'look-alike': 267,
      'unlisted term': 450,
      ordinary: 900,
      name: 900,
      misheard: 254,
    },
    textEncoder: 'all-MiniLM-L6-v2:8199be6f699a',
  },
};
