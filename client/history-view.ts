import type { ContractName } from '../shared/protocol.js';
import type { PlayClip } from './clip-player.js';
import { el, onChange } from './dom.js';
import { createTurnSection } from './turn-section.js';
import type { TurnView } from './turn-view.js';
import { seconds } from './words.js';

/** Earlier questions, each closed until it is opened; what is inside is made only then. */
export function createHistoryView(
  element: HTMLElement,
  playClip: PlayClip,
): (history: readonly TurnView[], contract: ContractName) => void {
  const entries = new Map<string, HTMLElement>();
  return onChange((history: readonly TurnView[], contract: ContractName) => {
    const wanted = history.map((turn) => {
      const known = entries.get(turn.turnId) ?? createEntry(turn, contract, playClip);
      entries.set(turn.turnId, known);
      return known;
    });
    element.hidden = history.length === 0;
    element.replaceChildren(el('h2', { text: 'Earlier questions' }), ...wanted);
  });
}

function createEntry(turn: TurnView, contract: ContractName, playClip: PlayClip): HTMLElement {
  const heard = turn.transcript?.text ? turn.transcript.text : null;
  const title = turn.asked ?? heard ?? `A spoken question of ${seconds(turn.spokenMs)}`;
  const details = el('details', { class: 'earlier' }, [el('summary', { text: title })]);
  let made = false;
  details.addEventListener('toggle', () => {
    if (made) return;
    made = true;
    const section = createTurnSection(playClip);
    section.update(turn, [], contract);
    details.append(section.element);
  });
  return details;
}
