import { oppositionOf } from './affixes.js';
import { editSimilarity } from './edit-distance.js';
import { phoneticCodes, phoneticSimilarity } from './phonetic.js';
import type { Proposal } from './grounding.js';
import type { Calibration, Coefficients } from './calibration.js';
import type { Candidate, TermIndex } from './term-index.js';
import { areWordForms, type Word } from './words.js';

/** Cosine similarity of two names, −1 … 1; null when no text encoder is there. */
export type SemanticSimilarity = (a: string, b: string) => number | null;

/** A part of a text that is no known word, and what it may stand for. */
export interface Suspect {
  /** Positions of its words, inclusive; several when sound was split into words. */
  readonly first: number;
  readonly last: number;
  /** As written. */
  readonly text: string;
  /** Letters only, words joined. */
  readonly key: string;
  /** Nearest first by spelling and sound. */
  readonly candidates: readonly Candidate[];
}

/** The decision on one suspect. */
export interface Judgement {
  readonly suspect: Suspect;
  readonly proposals: readonly Proposal[];
  /** The accepted candidate, or null. */
  readonly accepted: { readonly word: string; readonly score: number } | null;
  /** Two known look-alikes between which the word lies undecided: to be contrasted. */
  readonly undecided: readonly [string, string] | null;
}

/** Unknown words looked at in one text; more would be a foreign language or noise. */
const MAX_SUSPECTS = 12;
/** Candidates that are scored in full. */
export const MAX_CANDIDATES = 6;
/** Shorter words are near too many others. */
const MIN_LETTERS = 4;
/** Longest word that may be a torn-off part of a neighbour: `a sitaminofen`, `merca top urine`. */
const MAX_FRAGMENT_LETTERS = 6;

/** The unknown words of a text, alone and joined with small neighbours that mishearing may have torn off. */
export function findSuspects(text: string, words: readonly Word[], index: TermIndex): Suspect[] {
  const suspects: Suspect[] = [];
  let unknown = 0;
  for (let at = 0; at < words.length && unknown < MAX_SUSPECTS; at += 1) {
    if (!isUnknown(words[at], index)) continue;
    unknown += 1;
    for (const [first, last] of spansAround(words, at, index)) {
      const span = words.slice(first, last + 1);
      const key = span.map((word) => word.key).join('');
      if (key.length < MIN_LETTERS) continue;
      suspects.push({
        first,
        last,
        key,
        text: text.slice(span[0]?.start, span.at(-1)?.end),
        candidates: index.candidates(key, MAX_CANDIDATES),
      });
    }
  }
  return suspects;
}

function isUnknown(word: Word | undefined, index: TermIndex): boolean {
  return (
    word !== undefined && /^\p{L}{3,}$/u.test(word.key) && !isShouted(word.text) && !index.isReal(word.key)
  );
}

/** Abbreviations are not spelled as they sound and are left alone; a whole sentence in capitals is not one. */
function isShouted(text: string): boolean {
  return text.length <= 5 && text === text.toUpperCase();
}

function* spansAround(words: readonly Word[], at: number, index: TermIndex): Generator<[number, number]> {
  yield [at, at];
  const isFragment = (position: number): boolean => {
    const word = words[position];
    return word !== undefined && /^\p{L}+$/u.test(word.key) && word.key.length <= MAX_FRAGMENT_LETTERS;
  };
  if (isFragment(at + 1)) yield [at, at + 1];
  if (isFragment(at - 1) && !isUnknown(words[at - 1], index)) yield [at - 1, at];
  if (isFragment(at + 1) && isFragment(at + 2)) yield [at, at + 2];
}

/** Calibrated probability, 0 … 1, of log-odds. */
function probability(odds: number): number {
  return 1 / (1 + Math.exp(-odds));
}

function logOdds(
  key: string,
  candidate: Candidate,
  semantic: number | null,
  calibration: Calibration,
): number {
  const weights = semantic === null ? calibration.withoutSemantic : calibration.withSemantic;
  return dot(weights, featuresOf(key, candidate, semantic));
}

export interface Features {
  readonly edit: number;
  readonly phonetic: number;
  readonly semantic: number;
  readonly uses: number;
  readonly length: number;
  readonly first: number;
}

/** What the logistic model sees of a word and a candidate. */
export function featuresOf(key: string, candidate: Candidate, semantic: number | null): Features {
  return {
    edit: candidate.edit,
    phonetic: candidate.phonetic,
    semantic: semantic ?? 0,
    uses: Math.log1p(candidate.uses),
    length: Math.log(Math.min(key.length, candidate.word.length)),
    first: key[0] === candidate.word[0] ? 1 : 0,
  };
}

function dot(weights: Coefficients, features: Features): number {
  return (
    weights.bias +
    weights.edit * features.edit +
    weights.phonetic * features.phonetic +
    weights.semantic * features.semantic +
    weights.uses * features.uses +
    weights.length * features.length +
    weights.first * features.first
  );
}

export interface JudgeOptions {
  readonly index: TermIndex;
  readonly calibration: Calibration;
  readonly semantic: SemanticSimilarity;
}

/** How the model would see two real names, by spelling and sound: for the record, such a pair is never corrected. */
export function compareNames(
  from: string,
  to: string,
  calibration: Calibration,
): { readonly edit: number; readonly phonetic: number; readonly score: number } {
  const edit = editSimilarity(from, to);
  const phonetic = phoneticSimilarity(phoneticCodes(from), phoneticCodes(to));
  const odds = logOdds(from, { word: to, edit, phonetic, term: null, uses: 1 }, null, calibration);
  return { edit, phonetic, score: probability(odds) };
}

interface Scored {
  readonly candidate: Candidate;
  readonly semantic: number | null;
  readonly score: number;
  readonly odds: number;
}

/**
 * Decides what a suspect stands for. The best candidate is accepted when its score reaches the threshold, it is no ordinary
 * English word, and it leads every candidate of another meaning by the margin. Between two names that people confuse the
 * lead must be twice as large: taking one of them for the other is the one mistake that must not happen.
 */
export function judgeSuspect(suspect: Suspect, options: JudgeOptions): Judgement {
  const scored = suspect.candidates.map((candidate) => scoreOne(suspect, candidate, options));
  scored.sort((a, b) => b.odds - a.odds || (a.candidate.word < b.candidate.word ? -1 : 1));
  const best = scored[0];
  if (!best) return { suspect, proposals: [], accepted: null, undecided: null };
  const rival = scored.find((other) => !sameMeaning(best.candidate, other.candidate, options.index));
  const refusal = refuse(suspect.key, best, rival, options);
  const terms = scored.filter((each) => each.candidate.term !== null).slice(0, 3);
  return {
    suspect,
    proposals: terms.map((each) =>
      proposalOf(suspect, each, each === best ? refusal : 'another word is nearer'),
    ),
    accepted: refusal === null ? { word: best.candidate.word, score: best.score } : null,
    undecided:
      refusal !== null &&
      rival &&
      options.index.list.confusable.has(best.candidate.word, rival.candidate.word)
        ? [best.candidate.word, rival.candidate.word]
        : null,
  };
}

function scoreOne(suspect: Suspect, candidate: Candidate, options: JudgeOptions): Scored {
  const semantic = options.semantic(suspect.key, candidate.word);
  const odds = logOdds(suspect.key, candidate, semantic, options.calibration);
  return { candidate, semantic, odds, score: probability(odds) };
}

/** Why the best candidate is not accepted; null when it is. */
function refuse(
  key: string,
  best: Scored,
  rival: Scored | undefined,
  { index, calibration }: JudgeOptions,
): string | null {
  const model = best.semantic === null ? 'withoutSemantic' : 'withSemantic';
  const [needed, margin] = [calibration.threshold[model], calibration.margin[model]];
  if (best.candidate.term === null) return 'nearest to an ordinary word';
  if (oppositionOf(key, best.candidate.word)) return 'would turn a word into its opposite';
  if (best.score < needed) return `score below the threshold ${needed.toFixed(2)}`;
  if (!rival) return null;
  const confusable = index.list.confusable.has(best.candidate.word, rival.candidate.word);
  const lead = confusable ? margin * 2 : margin;
  if (best.odds - rival.odds >= lead) return null;
  return `as near to ${rival.candidate.word}`;
}

/** Forms of one word, spellings of one drug and names of one term do not compete. */
function sameMeaning(a: Candidate, b: Candidate, index: TermIndex): boolean {
  if (areWordForms(a.word, b.word) || index.list.sameDrug.has(a.word, b.word)) return true;
  const [termA, termB] = [index.termOf(a.word), index.termOf(b.word)];
  return termA !== null && termA === termB;
}

function proposalOf(suspect: Suspect, scored: Scored, refusal: string | null): Proposal {
  return {
    from: suspect.text,
    to: scored.candidate.word,
    termId: scored.candidate.term?.id ?? '',
    phonetic: scored.candidate.phonetic,
    edit: scored.candidate.edit,
    semantic: scored.semantic ?? 0,
    score: scored.score,
    accepted: refusal === null,
    reason: refusal ?? 'nearest term, no other as near',
  };
}

/** Of judgements on overlapping spans, the accepted ones that together fit: best score first, the shorter span on a tie. */
export function chooseAccepted(judgements: readonly Judgement[]): Judgement[] {
  const order = judgements.filter((each) => each.accepted !== null);
  order.sort(
    (a, b) =>
      (b.accepted?.score ?? 0) - (a.accepted?.score ?? 0) ||
      a.suspect.last - a.suspect.first - (b.suspect.last - b.suspect.first) ||
      a.suspect.first - b.suspect.first,
  );
  const chosen: Judgement[] = [];
  for (const each of order) {
    const overlaps = chosen.some(
      (other) => each.suspect.first <= other.suspect.last && other.suspect.first <= each.suspect.last,
    );
    if (!overlaps) chosen.push(each);
  }
  return chosen.sort((a, b) => a.suspect.first - b.suspect.first);
}

/** The words of a text with accepted corrections in place; a corrected word keeps the place of what was written. */
export function correctWords(words: readonly Word[], chosen: readonly Judgement[]): Word[] {
  const corrected: Word[] = [];
  let at = 0;
  for (const { suspect, accepted } of chosen) {
    corrected.push(...words.slice(at, suspect.first));
    const [first, last] = [words[suspect.first], words[suspect.last]];
    if (first && last && accepted) {
      corrected.push({ text: accepted.word, key: accepted.word, start: first.start, end: last.end });
    }
    at = suspect.last + 1;
  }
  corrected.push(...words.slice(at));
  return corrected;
}
