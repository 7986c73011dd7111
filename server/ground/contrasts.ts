import type { Contrast, Mention } from '../../shared/evidence.js';
import { oppositionOf } from './affixes.js';
import { editSimilarity } from './edit-distance.js';
import { phoneticCodes, phoneticSimilarity } from './phonetic.js';
import type { PairSet, Term } from './term-list.js';
import { areWordForms, wordKey } from './words.js';

/** A term of a turn with everything that speaks for its being relevant. */
export interface Entity {
  readonly term: Term;
  /** As written in the texts, first sight first. */
  readonly surfaces: readonly string[];
  /** Evidence that names it, best first. */
  readonly evidenceIds: readonly string[];
  /** Whether the question names it, as written or as corrected. */
  readonly inQuery: boolean;
  /** Everyday words such as `water` or `time`, which tell nothing apart. */
  readonly generic: boolean;
  /** What can be had, as diseases are: of two terms in company one must be. */
  readonly condition: boolean;
}

export interface ContrastOptions {
  readonly confusable: PairSet;
  readonly sameDrug: PairSet;
  /** Two names between which a misspelt word lies undecided. */
  readonly undecided?: ReadonlyArray<readonly [string, string]>;
  /** Ids of the best evidence; all of it when absent. */
  readonly best?: ReadonlySet<string>;
}

export const MAX_CONTRASTS = 8;
/** Entities compared pair by pair; 40 are 780 pairs, well under a millisecond. */
const MAX_ENTITIES = 40;
/** Weak edges kept at most, so that they do not fill the list: mere company, and narrower names, of which there are many. */
const MOST_OF_KIND: Partial<Readonly<Record<Contrast['kind'], number>>> = {
  'co-mentioned': 2,
  'subtype-of': 3,
};
/** Spelling similarity from which two names are easily confused, and a lower one that sound must support. */
const LOOKS_ALIKE = 0.8;
const LOOKS_RATHER_ALIKE = 0.7;
const SOUNDS_ALIKE = 0.8;

/** How much an edge helps to tell terms apart. */
const USEFULNESS: Readonly<Record<Contrast['kind'], number>> = {
  'look-alike': 5,
  'differs-by': 4,
  'synonym-of': 3,
  'subtype-of': 2,
  'co-mentioned': 1,
};

/** Entities of mentions, in order of first sight; mentions in `query` count as the question's. */
export function gatherEntities(
  mentions: readonly Mention[],
  options: {
    termOf: (mention: Mention) => Term | undefined;
    isGeneric: (term: Term) => boolean;
    isCondition: (term: Term) => boolean;
  },
): Entity[] {
  const entities = new Map<
    string,
    { term: Term; surfaces: Set<string>; ids: Set<string>; inQuery: boolean }
  >();
  for (const mention of mentions) {
    const term = options.termOf(mention);
    if (!term) continue;
    const entity = entities.get(term.id) ?? {
      term,
      surfaces: new Set<string>(),
      ids: new Set<string>(),
      inQuery: false,
    };
    entities.set(term.id, entity);
    entity.surfaces.add(wordKey(mention.text));
    if (mention.where === 'query') entity.inQuery = true;
    else entity.ids.add(mention.where);
  }
  return Array.from(entities.values(), ({ term, surfaces, ids, inQuery }) => ({
    term,
    surfaces: [...surfaces],
    evidenceIds: [...ids],
    inQuery,
    generic: options.isGeneric(term),
    condition: options.isCondition(term),
  }));
}

/**
 * At most eight edges saying how entities relate, the most useful first: confusable names before differences, the subjects of the
 * turn before others, well-attested before rare. Weak kinds must touch a subject. Deterministic: ties go by name.
 */
export function findContrasts(entities: readonly Entity[], options: ContrastOptions): Contrast[] {
  const considered = withFocus(entities, options.best);
  const edges: Edge[] = considered.flatMap(synonymEdges);
  for (let i = 0; i < considered.length; i += 1) {
    for (let j = i + 1; j < considered.length; j += 1) {
      const edge = edgeBetween(considered[i] as Focused, considered[j] as Focused, options);
      if (edge) edges.push(edge);
    }
  }
  for (const [a, b] of options.undecided ?? []) {
    if (!edges.some((edge) => edge.a === a && edge.b === b)) {
      edges.push({
        a,
        b,
        kind: 'look-alike',
        evidenceIds: [],
        weight: USEFULNESS['look-alike'] + 2 * SUBJECT,
      });
    }
  }
  edges.sort((x, y) => y.weight - x.weight || order(x.a, y.a) || order(x.b, y.b));
  return withoutSurplus(edges)
    .slice(0, MAX_CONTRASTS)
    .map(({ a, b, kind, evidenceIds }) => ({ a, b, kind, evidenceIds }));
}

type Edge = Contrast & { readonly weight: number };

function withoutSurplus(edges: readonly Edge[]): Edge[] {
  const counts = new Map<Contrast['kind'], number>();
  return edges.filter(({ kind }) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return count <= (MOST_OF_KIND[kind] ?? Infinity);
  });
}

/** How near an entity is to what the turn is about. */
type Focused = Entity & { readonly focus: number };
/** Of a subject; one of the best evidence has 1, any other 0. */
const SUBJECT = 2;

/** The most relevant entities with their focus. */
function withFocus(entities: readonly Entity[], best: ReadonlySet<string> | undefined): Focused[] {
  const subjects = subjectsOf(entities, best);
  const focused = entities.map((entity) => ({
    ...entity,
    focus: subjects.has(entity) ? SUBJECT : isInBest(entity, best) ? 1 : 0,
  }));
  const relevance = (entity: Focused): number =>
    entity.focus * 50 + (entity.generic ? 0 : 10) + entity.evidenceIds.length + kindWeight(entity.term);
  return focused
    .sort((x, y) => relevance(y) - relevance(x) || order(x.term.name, y.term.name))
    .slice(0, MAX_ENTITIES);
}

/** What the question names; where it has no words or names nothing, the best attested entities of the best evidence. */
function subjectsOf(entities: readonly Entity[], best: ReadonlySet<string> | undefined): Set<Entity> {
  const asked = entities.filter((entity) => entity.inQuery && !entity.generic);
  if (asked.length > 0) return new Set(asked);
  const shown = entities.filter((entity) => !entity.generic && !isLoose(entity) && isInBest(entity, best));
  const most = Math.max(...shown.map((entity) => entity.evidenceIds.length));
  return new Set(shown.filter((entity) => entity.evidenceIds.length === most));
}

function isInBest({ evidenceIds }: Entity, best: ReadonlySet<string> | undefined): boolean {
  return evidenceIds.some((id) => best?.has(id) ?? true);
}

/** Mined names and single words of names are too unsure to say anything by their company. */
function isLoose({ term }: Entity): boolean {
  return term.kind === 'mined' || term.kind === 'word';
}

/** Listed diseases and drugs are surer entities than what was mined. */
function kindWeight(term: Term): number {
  return { disease: 3, drug: 3, heading: 2, word: 1, mined: 0 }[term.kind];
}

/** Two names of one term in the texts: the reader must know that they are the same. */
function synonymEdges({ term, surfaces, evidenceIds, focus }: Focused): Edge[] {
  const [first, ...others] = surfaces;
  if (first === undefined) return [];
  return others
    .filter((other) => !sameWords(first, other))
    .map((other) => ({
      a: first,
      b: other,
      kind: 'synonym-of' as const,
      evidenceIds: [...evidenceIds],
      weight: USEFULNESS['synonym-of'] + 2 * focus - (term.kind === 'mined' ? 1 : 0),
    }));
}

function edgeBetween(x: Focused, y: Focused, options: ContrastOptions): Edge | null {
  const [a, b] = order(x.term.name, y.term.name) <= 0 ? [x, y] : [y, x];
  const relation = relationOf(a, b, options);
  if (!relation) return null;
  const isWeak = relation.kind in MOST_OF_KIND;
  if (isWeak && Math.max(a.focus, b.focus) < SUBJECT) return null;
  const [from, to] = relation.swapped ? [b, a] : [a, b];
  const shared = a.evidenceIds.filter((id) => b.evidenceIds.includes(id));
  const evidenceIds =
    relation.kind === 'co-mentioned' ? shared : [...new Set([...from.evidenceIds, ...to.evidenceIds])];
  const weight =
    USEFULNESS[relation.kind] +
    a.focus +
    b.focus +
    Math.min(evidenceIds.length, 8) / 10 -
    (a.generic || b.generic ? 1.5 : 0) -
    (a.term.kind === 'mined' || b.term.kind === 'mined' ? 0.5 : 0);
  const [nameA, nameB] = relation.names ?? [from.term.name, to.term.name];
  return { a: nameA, b: nameB, kind: relation.kind, evidenceIds, weight };
}

interface Relation {
  readonly kind: Contrast['kind'];
  /** Whether the edge runs from the second to the first; only `subtype-of` has a direction. */
  readonly swapped?: boolean;
  /** The names that relate, where they are not the terms' own: a list says `mitomycin`, a heading `Mitomycins`. */
  readonly names?: readonly [string, string];
}

function relationOf(a: Entity, b: Entity, { confusable, sameDrug }: ContrastOptions): Relation | null {
  const [nameA, nameB] = [wordKey(a.term.name), wordKey(b.term.name)];
  if (sameDrug.has(nameA, nameB)) return { kind: 'synonym-of' };
  const confused = confusedNames(a, b, confusable);
  if (confused) return { kind: 'look-alike', names: confused };
  if (sameWords(nameA, nameB)) return null;
  if (oppositionOf(nameA, nameB) || differByModifier(nameA, nameB)) return { kind: 'differs-by' };
  if (isSubtype(nameA, nameB)) return { kind: 'subtype-of' };
  if (isSubtype(nameB, nameA)) return { kind: 'subtype-of', swapped: true };
  if (lookAlike(a.term, b.term)) return { kind: 'look-alike' };
  return keepCompany(a, b) ? { kind: 'co-mentioned' } : null;
}

/** The first pair of their names, as listed or as written, that people confuse. */
function confusedNames(a: Entity, b: Entity, confusable: PairSet): readonly [string, string] | null {
  const namesOf = ({ term, surfaces }: Entity): string[] => [wordKey(term.name), ...surfaces];
  for (const nameA of namesOf(a)) {
    const nameB = namesOf(b).find((name) => confusable.has(nameA, name));
    if (nameB !== undefined) return [nameA, nameB];
  }
  return null;
}

/** Two specific names in one piece of evidence, one of them a condition: a disease and another, or what it is treated with. */
function keepCompany(a: Entity, b: Entity): boolean {
  if (a.generic || b.generic || isLoose(a) || isLoose(b) || !(a.condition || b.condition)) return false;
  return a.evidenceIds.some((id) => b.evidenceIds.includes(id));
}

/** Single words that a hurried eye or ear takes for each other; forms of one word are not meant. */
function lookAlike(a: Term, b: Term): boolean {
  const [x, y] = [wordKey(a.name), wordKey(b.name)];
  if (a.kind === 'mined' || b.kind === 'mined' || /[^a-z]/.test(x + y) || Math.min(x.length, y.length) < 5)
    return false;
  if (Math.abs(x.length - y.length) > 3 || areWordForms(x, y)) return false;
  const spelling = editSimilarity(x, y);
  if (spelling >= LOOKS_ALIKE) return true;
  return (
    spelling >= LOOKS_RATHER_ALIKE && phoneticSimilarity(phoneticCodes(x), phoneticCodes(y)) >= SOUNDS_ALIKE
  );
}

/** `type 1 diabetes` and `type 2 diabetes`: several words, as many, and one of them differs before a shared end. */
function differByModifier(a: string, b: string): boolean {
  const [x, y] = [a.split(' '), b.split(' ')];
  if (x.length !== y.length || x.length < 2) return false;
  const differing = x.flatMap((word, i) => (word === y[i] ? [] : [i]));
  const at = differing[0];
  if (differing.length !== 1 || at === undefined || at === x.length - 1) return false;
  const shared = x.filter((word, i) => i !== at && !GENERIC_HEADS.has(word));
  return shared.length > 0;
}

/** By name only: the longer name ends with the whole shorter one (`pulmonary hypertension` is a `hypertension`). */
function isSubtype(a: string, b: string): boolean {
  return a.endsWith(` ${b}`) && !GENERIC_HEADS.has(b);
}

/** Heads that nearly everything has: sharing one says nothing. */
const GENERIC_HEADS = new Set(
  'disease diseases disorder disorders syndrome syndromes cell cells protein proteins agent agents factor factors test tests therapy'.split(
    ' ',
  ),
);

function sameWords(a: string, b: string): boolean {
  const [x, y] = [a.split(/[ -]/), b.split(/[ -]/)];
  return x.length === y.length && x.every((word, i) => areWordForms(word, y[i] as string));
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
