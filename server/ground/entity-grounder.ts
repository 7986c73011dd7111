import type { Correction, Mention } from '../../shared/evidence.js';
import type { TextEncoder } from '../encode/text-encoder.js';
import { AuscultError } from '../errors.js';
import { CALIBRATION, type Calibration } from './calibration.js';
import { findContrasts, gatherEntities, type Entity } from './contrasts.js';
import {
  chooseAccepted,
  compareNames,
  correctWords,
  findSuspects,
  judgeSuspect,
  type Judgement,
  type SemanticSimilarity,
  type Suspect,
} from './entities.js';
import { findGap } from './gap.js';
import type { Grounder, Grounding, GroundingInput, Proposal } from './grounding.js';
import { createSemanticTable } from './semantic-table.js';
import { createTermIndex, type TermIndex } from './term-index.js';
import type { Term, TermList } from './term-list.js';
import { foldPlural, splitWords } from './words.js';

export interface EntityGrounderOptions {
  readonly terms: TermList;
  /** Without one, words are judged by spelling and sound alone, with coefficients fitted for that. */
  readonly textEncoder?: TextEncoder | null;
  readonly calibration?: Calibration;
}

/** A grounder that can learn the names of newly ingested texts. */
export interface EntityGrounder extends Grounder {
  /** Number of different terms known. */
  readonly size: number;
  /** Adds mined terms; they are found from the next call on. Adding one again changes nothing. */
  addTerms(terms: readonly Term[]): void;
}

/** English words up to this SCOWL size are everyday words: `water`, `blood`, `emergency`. */
const EVERYDAY_SIZE = 20;
/** Evidence up to this rank is what the turn is about, where the question itself does not say. */
const BEST_RANK = 2;

/** Builds the index; a list of 34,000 terms takes about a second of processor time, once. */
export function createEntityGrounder(options: EntityGrounderOptions): EntityGrounder {
  const index = createTermIndex(options.terms);
  const calibration = options.calibration ?? CALIBRATION;
  const table = options.textEncoder ? createSemanticTable(options.textEncoder) : null;

  const topic = createTopicality(index);

  function find(text: string, where: string, seen: Map<string, Term>, words = splitWords(text)): Mention[] {
    return index.find(words).flatMap(({ value, first, last }) => {
      const [from, to] = [words[first], words[last]];
      if (!from || !to || isNoise(value, from.key)) return [];
      seen.set(value.id, value);
      const place = { start: from.start, end: to.end, where };
      return [{ text: text.slice(from.start, to.end), term: value.name, termId: value.id, ...place }];
    });
  }

  async function judgeWords(text: string, signal?: AbortSignal): Promise<Judgement[]> {
    const suspects = findSuspects(text, splitWords(text), index);
    const semantic = await prepareSemantic(suspects, signal);
    return suspects.map((suspect) => judgeSuspect(suspect, { index, calibration, semantic }));
  }

  /** Embeds only the unknown words and their candidates; an encoder that fails is done without. */
  async function prepareSemantic(
    suspects: readonly Suspect[],
    signal?: AbortSignal,
  ): Promise<SemanticSimilarity> {
    if (!table || suspects.length === 0) return () => null;
    const names = suspects.flatMap((suspect) => [
      suspect.key,
      ...suspect.candidates.map((each) => each.word),
    ]);
    try {
      await table.prepare(names, signal);
    } catch (cause) {
      if (signal?.aborted) throw aborted(cause);
      return () => null;
    }
    return (a, b) => table.similarity(a, b);
  }

  return {
    get size() {
      return index.terms;
    },
    addTerms: (terms) => index.add(terms),
    async ground({ evidence, queryText }: GroundingInput, signal?: AbortSignal): Promise<Grounding> {
      if (signal?.aborted) throw aborted(signal.reason);
      const text = queryText ?? '';
      const judgements = await judgeWords(text, signal);
      if (signal?.aborted) throw aborted(signal.reason);
      const chosen = chooseAccepted(judgements);
      const seen = new Map<string, Term>();
      const mentions = [
        ...find(text, 'query', seen, correctWords(splitWords(text), chosen)),
        ...evidence.flatMap((item) => find(item.text, item.id, seen)),
      ];
      const entities = gatherEntities(mentions, {
        termOf: ({ termId }) => seen.get(termId),
        ...topic,
      });
      const { confusable, sameDrug } = index.list;
      const best = new Set(evidence.flatMap(({ id, rank }) => (rank <= BEST_RANK ? [id] : [])));
      const undecided = judgements.flatMap((each) => (each.undecided ? [each.undecided] : []));
      const corrections = correctionsOf(chosen);
      return {
        mentions,
        corrections,
        proposals: [
          ...proposalsOf(judgements, chosen),
          ...contrastedProposals(entities, (a, b) => confusable.has(a, b), calibration),
        ],
        contrasts: findContrasts(entities, { confusable, sameDrug, undecided, best }),
        gap: findGap({ entities, mentions, corrections, evidence }),
      };
    },
  };
}

/** Letters, digits and the very short say nothing of a topic. */
function isNoise(term: Term, key: string): boolean {
  return key.length < 3 && !/\s/.test(term.name);
}

/** What a term says of a topic. */
function createTopicality(index: TermIndex): {
  isGeneric(term: Term): boolean;
  isCondition(term: Term): boolean;
} {
  const { commonWords } = index.list;
  const isEveryday = (key: string): boolean =>
    Math.min(commonWords.get(key) ?? 99, commonWords.get(foldPlural(key)) ?? 99) <= EVERYDAY_SIZE;
  const isCondition = (term: Term): boolean => {
    const last = splitWords(term.name).at(-1);
    return term.kind === 'disease' || (term.kind === 'heading' && !!last && index.isHead(last.key));
  };
  return {
    isCondition,
    // A heading of everyday words only says nothing (`body temperature`), unless diseases are named so.
    isGeneric: (term) =>
      term.kind === 'heading' &&
      !isCondition(term) &&
      splitWords(term.name).every(({ key }) => isEveryday(key)),
  };
}

function correctionsOf(chosen: readonly Judgement[]): Correction[] {
  const corrections = chosen.flatMap(({ suspect, accepted }) =>
    accepted ? [{ from: suspect.text, to: accepted.word, score: accepted.score }] : [],
  );
  return corrections.filter((each, i) => corrections.findIndex((other) => other.from === each.from) === i);
}

/** Proposals in order of the text; what was accepted on a span that lost to another is refused with that reason. */
function proposalsOf(judgements: readonly Judgement[], chosen: readonly Judgement[]): Proposal[] {
  return judgements.flatMap((judgement) =>
    judgement.proposals.map((proposal) =>
      proposal.accepted && !chosen.includes(judgement)
        ? { ...proposal, accepted: false, reason: 'the same words read better otherwise' }
        : proposal,
    ),
  );
}

/** The temptation that was resisted, on record: the question's real word and its look-alike in the evidence. */
function contrastedProposals(
  entities: readonly Entity[],
  confusable: (a: string, b: string) => boolean,
  calibration: Calibration,
): Proposal[] {
  const asked = entities.filter((entity) => entity.inQuery);
  return asked.flatMap(({ term }) =>
    entities
      .filter((other) => other.term.id !== term.id && confusable(term.name, other.term.name))
      .map((other) => ({
        from: term.name,
        to: other.term.name,
        termId: other.term.id,
        ...compareNames(term.name.toLowerCase(), other.term.name.toLowerCase(), calibration),
        semantic: 0,
        accepted: false,
        reason: 'both are real names that people confuse: contrasted, not corrected',
      })),
  );
}

function aborted(cause: unknown): AuscultError {
  return new AuscultError('aborted', {
    message: 'The turn was cancelled while its entities were looked up.',
    cause,
  });
}
