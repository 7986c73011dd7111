import type { ContractName } from '../shared/protocol.js';
import { el, onChange } from './dom.js';
import { answerParts, answerRound, type AnswerPart, type TurnView } from './turn-view.js';
import { cancelledWords, supportWords } from './words.js';

export interface AnswerView {
  readonly element: HTMLElement;
  update(turn: TurnView, contract: ContractName): void;
}

const CHOICES: Readonly<Record<string, string>> = { yes: 'Yes', no: 'No', maybe: 'Maybe' };

/** The answer with its numbered citations, what supports it, or why there is none. */
export function createAnswerView(jumpTo: (evidenceId: string) => void): AnswerView {
  // Busy while it streams: a screen reader says the whole once, not every piece.
  const text = el('div', {
    class: 'answer-text',
    attributes: { 'aria-live': 'polite', 'aria-busy': 'false' },
  });
  const badge = el('p', { class: 'badge' });
  const reason = el('p', { class: 'reason' });
  const element = el('section', { class: 'answer', attributes: { 'aria-label': 'Answer', tabindex: -1 } }, [
    el('h3', { text: 'Answer' }),
    text,
    el('div', { class: 'support' }, [badge, reason]),
  ]);
  return {
    element,
    update: onChange((turn: TurnView, contract: ContractName) => {
      const done = answerRound(turn)?.answer ?? null;
      const nodes = answerNodes(turn, contract, jumpTo);
      element.hidden = nodes.length === 0;
      text.setAttribute('aria-busy', String(nodes.length > 0 && !done && !turn.end));
      element.classList.toggle('streaming', nodes.length > 0 && !done && !turn.end);
      element.classList.toggle('abstained', done?.abstained === true || done?.withheld !== undefined);
      text.replaceChildren(...nodes);
      badge.hidden = !done || done.abstained;
      reason.hidden = badge.hidden;
      if (!done) return;
      badge.textContent = supportWords(done.support.label);
      badge.dataset['label'] = done.support.label;
      reason.textContent = done.support.reason;
    }),
  };
}

function answerNodes(turn: TurnView, contract: ContractName, jumpTo: (evidenceId: string) => void): Node[] {
  const done = answerRound(turn)?.answer ?? null;
  const nodes: Node[] = [];
  if (done?.withheld !== undefined)
    nodes.push(el('p', { text: `The answer is withheld: ${done.withheld} The evidence is below.` }));
  else if (done?.abstained)
    nodes.push(
      el('p', {
        text: 'The evidence found does not answer this, so no answer is given. What came nearest is below.',
      }),
    );
  else nodes.push(...spokenAnswer(answerParts(turn, contract), done?.parsed ?? null, jumpTo));
  if (done && !done.valid && !done.abstained)
    nodes.push(
      el('p', { class: 'aside', text: 'This answer does not keep to the agreed form; read it with care.' }),
    );
  if (turn.error !== null) nodes.push(el('p', { class: 'fault', text: turn.error }));
  if (turn.end?.kind === 'cancelled')
    nodes.push(el('p', { class: 'aside', text: cancelledWords(turn.end.reason) }));
  if (turn.end?.kind === 'rejected') nodes.push(el('p', { class: 'aside', text: turn.end.message }));
  if (turn.end?.kind === 'lost')
    nodes.push(
      el('p', { class: 'aside', text: 'The connection broke before this question was finished. Ask again.' }),
    );
  return nodes;
}

function spokenAnswer(
  parts: readonly AnswerPart[],
  parsed: string | null,
  jumpTo: (evidenceId: string) => void,
): Node[] {
  if (parts.length === 0) return [];
  const verdict = parsed === null ? undefined : CHOICES[parsed];
  if (verdict !== undefined) {
    const cites = parts.flatMap((part) => part.cites.map((cite) => citation(cite, jumpTo)));
    return [el('p', { class: 'verdict' }, [verdict, ...cites])];
  }
  return [
    el(
      'p',
      {},
      parts.flatMap((part) => [part.text, ...part.cites.map((cite) => citation(cite, jumpTo))]),
    ),
  ];
}

function citation(
  { evidenceId, number }: AnswerPart['cites'][number],
  jumpTo: (evidenceId: string) => void,
): HTMLElement {
  return el('a', {
    class: 'cite',
    text: String(number),
    attributes: { href: `#card-${String(number)}`, 'aria-label': `Evidence ${String(number)}` },
    onClick: (event) => {
      event.preventDefault();
      jumpTo(evidenceId);
    },
  });
}
