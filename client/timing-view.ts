import type { TurnTimings } from '../shared/protocol.js';
import { el, onChange } from './dom.js';
import { answerSentence, evidenceSentence, timingParts } from './timing-words.js';
import { seconds } from './words.js';

export interface TimingView {
  readonly element: HTMLElement;
  /** Null while a turn runs. */
  update(timings: TurnTimings | null, source: 'speech' | 'text'): void;
}

/** Where the time went: a sentence, a bar, and the same in words. */
export function createTimingView(): TimingView {
  const element = el('section', { class: 'timing', attributes: { 'aria-label': 'Times' } });
  return {
    element,
    update: onChange((timings: TurnTimings | null, source: 'speech' | 'text') => {
      element.hidden = timings === null;
      if (timings) element.replaceChildren(...timingNodes(timings, source));
    }),
  };
}

/** Milliseconds where hundredths of a second would say nothing. */
function briefly(ms: number): string {
  return ms < 100 ? `${String(Math.round(ms))} ms` : seconds(ms);
}

function timingNodes(timings: TurnTimings, source: 'speech' | 'text'): Node[] {
  const parts = timingParts(timings);
  const bar = el('div', { class: 'bar', attributes: { 'aria-hidden': 'true' } });
  for (const part of parts) {
    const piece = el('span', { class: `part part-${part.name}` });
    piece.style.flexGrow = String(part.ms);
    bar.append(piece);
  }
  const legend = parts.map((part) =>
    el('li', { class: `part-${part.name}` }, [
      el('span', { text: part.label }),
      el('span', { class: 'figure', text: briefly(part.ms) }),
    ]),
  );
  const setting = timings.endpointWaitMs >= 0.5 ? `The wait is the setting ${timings.endpointSetting}. ` : '';
  const ahead = timings.encodeSpeculative ? 'The sound was encoded in advance, during that wait.' : '';
  return [
    el('h3', { text: 'Times' }),
    el('p', { class: 'timing-lead', text: evidenceSentence(timings, source) }),
    el('p', { text: answerSentence(timings) }),
    bar,
    el('ul', { class: 'legend' }, legend),
    el('p', { class: 'timing-note', text: `${setting}${ahead}` }),
  ];
}
