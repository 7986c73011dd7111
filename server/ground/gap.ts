import type { Correction, EvidenceItem, Mention } from '../../shared/evidence.js';
import type { Entity } from './contrasts.js';

export interface GapInput {
  readonly entities: readonly Entity[];
  readonly mentions: readonly Mention[];
  readonly corrections: readonly Correction[];
  readonly evidence: readonly EvidenceItem[];
}

/**
 * Why the evidence may miss the point, for a person to read; null when nothing says so. First what the question names and the
 * evidence does not, then, for sound without words, whether the two stores think of different things.
 */
export function findGap({ entities, mentions, corrections, evidence }: GapInput): string | null {
  if (evidence.length === 0) return null;
  const asked = entities.filter((entity) => entity.inQuery && !entity.generic);
  const missing = asked.find((entity) => entity.evidenceIds.length === 0 && !isCovered(entity, entities));
  if (missing) {
    const name = missing.term.name;
    return corrections.some((correction) => missing.surfaces.includes(correction.from.toLowerCase()))
      ? `The evidence does not mention ${name}, which the question most likely means.`
      : `The evidence does not mention ${name}.`;
  }
  if (asked.length > 0) return null;
  return storesDisagree(entities, mentions, evidence);
}

/** A narrower or wider name of the asked term in the evidence will do: `asthma` for `bronchial asthma`. */
function isCovered(asked: Entity, entities: readonly Entity[]): boolean {
  return entities.some((other) => other.evidenceIds.length > 0 && isRelated(asked, other));
}

function isRelated(a: Entity, b: Entity): boolean {
  const [x, y] = [` ${a.term.name.toLowerCase()} `, ` ${b.term.name.toLowerCase()} `];
  return a.term.id === b.term.id || x.includes(y) || y.includes(x);
}

/** The nearest spoken item and the nearest passage, when they name entities and have none in common. */
function storesDisagree(
  entities: readonly Entity[],
  mentions: readonly Mention[],
  evidence: readonly EvidenceItem[],
): string | null {
  const speech = focusOf(nearest(evidence, 'speech'), entities, mentions);
  const passage = focusOf(nearest(evidence, 'passages'), entities, mentions);
  const [spoken, written] = [speech[0], passage[0]];
  if (!spoken || !written) return null;
  if (speech.some((a) => passage.some((b) => isRelated(a, b)))) return null;
  return `The nearest recording is about ${spoken.term.name}, the nearest passage about ${written.term.name}.`;
}

function nearest(evidence: readonly EvidenceItem[], store: EvidenceItem['store']): EvidenceItem | undefined {
  const ofStore = evidence.filter((item) => item.store === store);
  return ofStore.reduce<EvidenceItem | undefined>(
    (best, item) => (best && best.rank <= item.rank ? best : item),
    undefined,
  );
}

/** What an item is about: its entities, most often named first. */
function focusOf(
  item: EvidenceItem | undefined,
  entities: readonly Entity[],
  mentions: readonly Mention[],
): Entity[] {
  if (!item) return [];
  const times = (entity: Entity): number =>
    mentions.filter((mention) => mention.where === item.id && mention.termId === entity.term.id).length;
  return entities
    .filter(
      (entity) => !entity.generic && entity.term.kind !== 'mined' && entity.evidenceIds.includes(item.id),
    )
    .map((entity) => ({ entity, count: times(entity) }))
    .sort((x, y) => y.count - x.count || (x.entity.term.name < y.entity.term.name ? -1 : 1))
    .map(({ entity }) => entity);
}
