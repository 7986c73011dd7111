/** A sentence of the visible evidence with its unit vector. */
export interface CandidateSentence {
  readonly evidenceId: string;
  readonly text: string;
  readonly vector: Float32Array;
  /** Cosine similarity to the question. */
  readonly score: number;
}

export interface PickOptions {
  readonly count: number;
  /** Least score of a picked sentence. */
  readonly atLeast: number;
  /** Weight of likeness to the question against likeness to what is picked already, 0 … 1; 1 ignores redundancy. */
  readonly relevanceWeight: number;
  /** Cosine from which a sentence says what a picked one has said; it is skipped. */
  readonly redundantAbove: number;
}

/**
 * Maximal marginal relevance (Carbonell and Goldstein 1998, section 2): at each step the sentence with the largest
 * λ · sim(question) − (1 − λ) · max sim(picked). Result in order of picking; the input's order breaks ties.
 */
export function pickSentences(
  candidates: readonly CandidateSentence[],
  options: PickOptions,
): CandidateSentence[] {
  const picked: CandidateSentence[] = [];
  let pool = candidates.filter(({ score }) => score >= options.atLeast);
  while (picked.length < options.count && pool.length > 0) {
    const gains = pool.map((candidate) => marginalRelevance(candidate, picked, options.relevanceWeight));
    const best = pool[gains.indexOf(Math.max(...gains))];
    if (best === undefined) break;
    picked.push(best);
    pool = pool.filter(
      (candidate) => cosine(candidate.vector, best.vector) < options.redundantAbove && candidate !== best,
    );
  }
  return picked;
}

function marginalRelevance(
  candidate: CandidateSentence,
  picked: readonly CandidateSentence[],
  weight: number,
): number {
  const likeness = picked.map((other) => cosine(candidate.vector, other.vector));
  return weight * candidate.score - (1 - weight) * Math.max(0, ...likeness);
}

/** Cosine of two unit vectors of the same length. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index += 1) sum += (a[index] ?? 0) * (b[index] ?? 0);
  return sum;
}
