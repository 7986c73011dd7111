import type { EvidenceItem } from '../../shared/evidence.js';
import type { Retrieval, RetrievalRequest, Retriever } from '../../server/retrieve/retriever.js';
import { AuscultError } from '../../server/errors.js';

export interface FakeRetriever extends Retriever {
  /** Every request that was made, in order. */
  readonly requests: RetrievalRequest[];
}

export interface FakeRound {
  readonly items: readonly EvidenceItem[];
  readonly bestScore?: number;
}

/**
 * Answers round by round from a script, the last entry again when it has run out; items on `excludeIds` are left out, k is kept.
 * `wait` delays an answer (tests hand in a promise they resolve).
 */
export function createFakeRetriever(
  rounds: readonly FakeRound[],
  options: { readonly wait?: () => Promise<void> } = {},
): FakeRetriever {
  const requests: RetrievalRequest[] = [];
  return {
    requests,
    async retrieve(request, signal): Promise<Retrieval> {
      const round = rounds[Math.min(requests.length, rounds.length - 1)] ?? { items: [] };
      requests.push(request);
      await options.wait?.();
      if (signal?.aborted === true) throw new AuscultError('aborted', { message: 'Cancelled.' });
      const items = round.items
        .filter((item) => request.excludeIds?.has(item.id) !== true)
        .filter((item) => request.excludeIds?.has(item.documentId) !== true)
        .slice(0, request.queries.length === 0 ? 0 : request.settings.k)
        .map((item, index) => ({ ...item, rank: index + 1 }));
      return {
        items,
        hits: items.map(
          ({ id, documentId, store, querySource, matchedWindow, rawScore, normalisedScore }) => ({
            id,
            documentId,
            store,
            source: querySource,
            window: matchedWindow,
            rawScore,
            normalisedScore,
          }),
        ),
        bestScore:
          items.length === 0 ? -1 : (round.bestScore ?? Math.max(...items.map((item) => item.rawScore))),
        timings: { retrieveSpeechMs: 0, retrieveTextMs: 0, fuseMs: 0 },
      };
    },
  };
}
