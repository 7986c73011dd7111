/** What a sentence of a finding says to a yes/no question. */
export type Polarity = 'yes' | 'no' | 'maybe';

const NEGATION =
  /\b(?:no|not|never|neither|nor|without|cannot|fail(?:s|ed)? to|lack(?:s|ed)? of|unable to|unlikely|absence of|ineffective|insignificant(?:ly)?|non-?significant(?:ly)?)\b|n['’]t\b/giu;
const DOUBT =
  /\b(?:unclear|uncertain|inconclusive|controversial|debatable|further (?:studies|research|investigation)|remains? to be|mixed results|conflicting|equivocal|insufficient(?:ly)?)\b/iu;
/** Phrases whose negation says nothing about the finding. */
const HARMLESS = /\b(?:not only|no doubt|whether or not|with or without|if not all)\b/giu;
const CONCLUSION =
  /\b(?:conclu(?:de|sion|sions)|suggest(?:s|ed)?|indicat(?:e|es|ed)|demonstrat(?:e|es|ed)|show(?:s|n|ed)?|found|findings?|results?|associated|significant(?:ly)?|effective|improv(?:e|es|ed)|support(?:s|ed)?)\b/iu;

/** Number of negating words of a sentence; set phrases that negate nothing are not counted. */
export function negations(sentence: string): number {
  return sentence.replace(HARMLESS, ' ').match(NEGATION)?.length ?? 0;
}

/** Polarity by cue words: doubt, else an odd number of negations, else assent. A heuristic, measured by bench/abstention.ts. */
export function polarityOf(sentence: string): Polarity {
  if (DOUBT.test(sentence)) return 'maybe';
  return negations(sentence) % 2 === 1 ? 'no' : 'yes';
}

/** Whether a sentence reports a finding rather than a background or a method. */
export function soundsLikeFinding(sentence: string): boolean {
  return CONCLUSION.test(sentence);
}
