import type { ViewState } from './view-state.js';
import { answerRound, isOver, type TurnView } from './turn-view.js';
import { count, stopWords, troubleWords } from './words.js';

/** One sentence on what is going on, shown under the disc and read aloud by screen readers. */
export function statusWords(state: ViewState): string {
  if (state.line.kind === 'connecting') {
    const { waitingFor } = state.line;
    return waitingFor ? troubleWords({ kind: 'not_ready', waitingFor }) : 'Connecting to the server …';
  }
  if (state.line.kind !== 'open') return 'Not connected.';
  if (state.source.kind === 'opening') return 'Opening the sound …';
  if (state.isSpeaking)
    return state.source.kind === 'sample' ? 'Hearing the sample question …' : 'Hearing you …';
  if (state.hasStopped) return 'Heard. Looking for evidence …';
  if (state.rejection) return state.rejection.message;
  if (state.turn && !isOver(state.turn)) return turnWords(state.turn);
  if (state.source.kind === 'microphone') return 'Listening. Ask your question.';
  if (state.source.kind === 'sample') return 'Playing the sample question …';
  return state.turn ? endWords(state.turn) : 'Press the disc and ask a question.';
}

function turnWords(turn: TurnView): string {
  const round = turn.rounds.at(-1);
  if (!round) return 'Looking for evidence …';
  const answered = answerRound(turn);
  if (round.round > 1 && round.answer === null) return 'Looking again, with words of the first round …';
  if (answered?.answer) return 'Weighing the answer …';
  return `${count(round.items.length, 'piece')} of evidence. Writing the answer …`;
}

function endWords(turn: TurnView): string {
  switch (turn.end?.kind) {
    case 'done':
      return `${stopWords(turn.end.stopReason)}. Press the disc to ask another.`;
    case 'cancelled':
      return 'Stopped. Press the disc to ask again.';
    case 'lost':
      return 'The connection broke before the answer came. Ask again.';
    case 'rejected':
      return turn.end.message;
    case undefined:
      return '';
  }
}
