import { negations, polarityOf } from '../../shared/polarity.js';

/** How a claim stands to one sentence of the evidence, by words alone. */
export interface Agreement {
  /** Share of the claim's content words that the sentence has, 0 … 1; 1 for a claim without any. */
  readonly coverage: number;
  /** Numbers of the claim that the evidence does not have. */
  readonly missingNumbers: readonly string[];
  /** What the two say against each other; null when nothing does. */
  readonly conflict: 'numbers' | 'negation' | 'certainty' | 'direction' | null;
}

/** Words that turn a finding round; compared by their beginnings. */
const OPPOSITES: ReadonlyArray<readonly [string, string]> = [
  ['increas', 'decreas'],
  ['increas', 'reduc'],
  ['higher', 'lower'],
  ['raise', 'lower'],
  ['more', 'fewer'],
  ['more', 'less'],
  ['improv', 'worse'],
  ['before', 'after'],
  ['gain', 'loss'],
  ['safe', 'unsafe'],
  ['effective', 'ineffective'],
  ['benign', 'malignant'],
  ['acute', 'chronic'],
  ['hypert', 'hypot'],
  ['hyperplas', 'hypoplas'],
  ['hyperglyc', 'hypoglyc'],
  ['hyperkal', 'hypokal'],
  ['hypernat', 'hyponat'],
];

const STOP = new Set(
  (
    'the a an and or of in on at to for with by from as is are was were be been being it its this that these those which who ' +
    'may can could will would has have had do does did not no than then also into over under between such there their they'
  ).split(' '),
);

/**
 * Compares a claim with a sentence. `context` is the whole snippet: a number may stand in the sentence next to it. Conflicts
 * are looked for only where the two share at least half of the claim's content words, that is, where they talk of the same.
 */
export function compareClaim(claim: string, sentence: string, context: string): Agreement {
  const wanted = contentStems(claim);
  const found = contentStems(sentence);
  const shared = [...wanted].filter((stem) => found.has(stem)).length;
  const coverage = wanted.size === 0 ? 1 : shared / wanted.size;
  const available = new Set(numbersOf(context));
  const missingNumbers = numbersOf(claim).filter((number) => !available.has(number));
  return { coverage, missingNumbers, conflict: conflictOf({ claim, sentence, coverage, missingNumbers }) };
}

function conflictOf(facts: {
  readonly claim: string;
  readonly sentence: string;
  readonly coverage: number;
  readonly missingNumbers: readonly string[];
}): Agreement['conflict'] {
  if (facts.coverage < 0.5) return null;
  if (facts.missingNumbers.length > 0 && numbersOf(facts.sentence).length > 0) return 'numbers';
  if (polarityOf(facts.sentence) === 'maybe' && polarityOf(facts.claim) !== 'maybe') return 'certainty';
  if (negations(facts.claim) % 2 !== negations(sharedClauses(facts)) % 2) return 'negation';
  return opposed(facts.claim, facts.sentence) ? 'direction' : null;
}

/** The clauses that share most content words with the claim: `had no side effects` does not negate the rest. */
function sharedClauses({ claim, sentence }: { readonly claim: string; readonly sentence: string }): string {
  const wanted = contentStems(claim);
  const clauses = sentence.split(/[,;:]|\band\b|\bbut\b/i);
  const shared = clauses.map((clause) => [...contentStems(clause)].filter((stem) => wanted.has(stem)).length);
  const most = Math.max(...shared);
  return clauses.filter((_, index) => (shared[index] ?? 0) * 2 > most).join(' ; ');
}

/** Whether one text has a word of a pair and the other only its opposite. */
function opposed(claim: string, sentence: string): boolean {
  const inClaim = wordsOf(claim);
  const inSentence = wordsOf(sentence);
  const has = (list: readonly string[], start: string): boolean =>
    list.some((word) => word.startsWith(start));
  return OPPOSITES.some(([a, b]) => {
    const [claimA, claimB] = [has(inClaim, a), has(inClaim, b)];
    const [sentenceA, sentenceB] = [has(inSentence, a), has(inSentence, b)];
    return (claimA && !claimB && sentenceB && !sentenceA) || (claimB && !claimA && sentenceA && !sentenceB);
  });
}

const NUMBER_WORDS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');

/** Numbers of a text in digits, thousands separators removed; number words from two to twelve count. */
export function numbersOf(text: string): string[] {
  const digits = text.match(/\d+(?:[.,]\d+)*/g) ?? [];
  const spelled = wordsOf(text).flatMap((word) => {
    const value = NUMBER_WORDS.indexOf(word);
    return value >= 2 ? [String(value)] : [];
  });
  return [...digits.map((number) => number.replace(/,(?=\d{3}\b)/g, '').replace(/\.0+$/, '')), ...spelled];
}

function contentStems(text: string): Set<string> {
  return new Set(
    wordsOf(text)
      .filter((word) => word.length > 2 && !STOP.has(word))
      .map((word) => word.slice(0, 6)),
  );
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/\p{L}+/gu) ?? [];
}
