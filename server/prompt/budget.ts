import type { EvidenceItem } from '../../shared/evidence.js';
import type { DroppedEvidence, VisibleEvidence } from './prompt.js';
import type { Salience } from './salience.js';
import { chooseSnippet } from './snippet.js';

/** How much evidence a prompt takes. */
export const PROMPT_LIMITS = {
  /** Relations that tell confusable terms apart. */
  contrasts: 8,
  /** Text passages. */
  passages: 4,
  /** Texts of spoken items. */
  speechLinked: 2,
  /** All messages, by the generator's own tokenizer. */
  tokens: 1_024,
} as const;

export interface EvidenceSelection {
  readonly visible: readonly VisibleEvidence[];
  readonly dropped: readonly DroppedEvidence[];
}

/**
 * Snippets in the order of the ranking, at most 4 passages and 2 speech-linked texts. Every item that is left out is in
 * `dropped` with its reason: no text, the words of an earlier snippet, or its kind's places taken.
 */
export function selectEvidence(evidence: readonly EvidenceItem[], salience?: Salience): EvidenceSelection {
  const visible: VisibleEvidence[] = [];
  const dropped: DroppedEvidence[] = [];
  const seen = new Set<string>();
  const places = { passages: PROMPT_LIMITS.passages as number, speech: PROMPT_LIMITS.speechLinked as number };
  for (const item of evidence) {
    const snippet = chooseSnippet(item.text, salience?.get(item.id));
    const words = normalise(snippet);
    const reason = reasonToDrop(item, words, { seen, places });
    if (reason !== null) {
      dropped.push({ id: item.id, reason });
      continue;
    }
    seen.add(words).add(`#${item.id}`);
    places[item.store] -= 1;
    visible.push({
      id: item.id,
      documentId: item.documentId,
      title: item.title,
      snippet,
      speechLinked: item.store === 'speech',
    });
  }
  return { visible, dropped };
}

function reasonToDrop(
  item: EvidenceItem,
  words: string,
  state: { readonly seen: ReadonlySet<string>; readonly places: Record<EvidenceItem['store'], number> },
): DroppedEvidence['reason'] | null {
  if (words === '') return 'empty';
  if (state.seen.has(words) || state.seen.has(`#${item.id}`)) return 'duplicate';
  if (state.places[item.store] > 0) return null;
  return item.store === 'speech' ? 'speech_limit' : 'passage_limit';
}

/** Letters and digits only: two snippets that differ in white space, case or punctuation are the same to a reader. */
function normalise(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
