import type { StopReason } from '../../shared/protocol.js';
import { nextQuery } from './next-query.js';
import { currentRound } from './round.js';
import { queryTextOf } from './emissions.js';
import type { Feedback, TurnContext } from './turn-types.js';

export type Decision =
  | { readonly kind: 'round'; readonly feedback: Feedback }
  | { readonly kind: 'stop'; readonly stopReason: StopReason };

/**
 * After a verdict: stop, or one more round? A supported answer without a gap stops; so does a withheld one, the last allowed
 * round, and a round that gave no words to make a query of (an exam letter, yes or no).
 */
export function decideNext(context: TurnContext): Decision {
  const { answer, support, grounding } = currentRound(context);
  if (answer?.withheld || support?.label === 'UNSAFE') return { kind: 'stop', stopReason: 'withheld' };
  const enough = support?.label === 'SUPPORTED' && !answer?.abstained && !grounding?.gap;
  if (enough) return { kind: 'stop', stopReason: 'answered' };
  if (context.rounds.length >= context.turn.retrieval.maxRounds)
    return { kind: 'stop', stopReason: lastWord(context) };
  const feedback = nextQuery({
    contract: context.turn.contract,
    queryText: queryTextOf(context),
    grounding,
    answer: answer && !answer.abstained ? answer.text : null,
    previous: context.rounds.flatMap((round) => round.queries.map(({ query }) => query.text ?? '')),
  });
  return feedback ? { kind: 'round', feedback } : { kind: 'stop', stopReason: 'no_terms' };
}

function lastWord(context: TurnContext): StopReason {
  if (currentRound(context).answer?.abstained) return 'abstained';
  return context.turn.retrieval.maxRounds === 1 ? 'answered' : 'max_rounds';
}
