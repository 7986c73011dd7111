import type { TurnTimings } from '../shared/protocol.js';
import { seconds } from './words.js';

/** A stretch of a turn's time, milliseconds. */
export interface TimingPart {
  readonly name: 'wait' | 'encode' | 'search' | 'words' | 'ground' | 'answer' | 'judge' | 'other';
  readonly label: string;
  readonly ms: number;
}

/** The parts of a turn in the order in which they happen, without empty ones; their sum is `doneMs`. */
export function timingParts(timings: TurnTimings): TimingPart[] {
  const sum = (pick: (round: TurnTimings['rounds'][number]) => number): number =>
    timings.rounds.reduce((total, round) => total + pick(round), 0);
  const parts: TimingPart[] = [
    { name: 'wait', label: 'waiting for silence', ms: timings.endpointWaitMs },
    { name: 'encode', label: 'turning sound into a vector', ms: timings.decodeMs + timings.encodeMs },
    {
      name: 'search',
      label: 'searching',
      ms: timings.retrieveSpeechMs + timings.retrieveTextMs + timings.fuseMs,
    },
    { name: 'words', label: 'hearing words', ms: sum((round) => round.transcribeMs) },
    { name: 'ground', label: 'comparing terms', ms: timings.groundMs },
    { name: 'answer', label: 'answering', ms: sum((round) => round.promptMs + round.generateMs) },
    { name: 'judge', label: 'judging', ms: sum((round) => round.judgeMs) },
    { name: 'other', label: 'everything else', ms: timings.otherMs },
  ];
  return parts.filter((part) => part.ms >= 0.5);
}

/** The one figure that people feel: how long after their last word the evidence came, and what of it was waiting. */
export function evidenceSentence(timings: TurnTimings, source: 'speech' | 'text'): string {
  if (timings.firstEvidenceMs === null) return 'No evidence was shown.';
  const after = source === 'speech' ? 'after you stopped' : 'after you asked';
  const wait =
    timings.endpointWaitMs >= 0.5 ? `, ${seconds(timings.endpointWaitMs)} of it waiting for silence` : '';
  return `Evidence ${seconds(timings.firstEvidenceMs)} ${after}${wait}.`;
}

export function answerSentence(timings: TurnTimings): string {
  const answer = timings.firstAnswerMs === null ? '' : `Answer after ${seconds(timings.firstAnswerMs)}, `;
  return `${answer}${answer === '' ? 'All' : 'all'} done after ${seconds(timings.doneMs)}.`;
}
