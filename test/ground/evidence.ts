import type { EvidenceItem } from '../../shared/evidence.js';

/** An evidence item of which only the text, the store and the rank matter. */
export function evidenceOf(id: string, text: string, over: Partial<EvidenceItem> = {}): EvidenceItem {
  return {
    id,
    rank: 1,
    store: 'passages',
    documentId: id.replace(/#.*/, ''),
    title: '',
    text,
    score: 0,
    rawScore: 0,
    normalisedScore: 0,
    querySource: 'speech',
    matchedWindow: 0,
    span: { start: 0, end: text.length },
    ...over,
  };
}
