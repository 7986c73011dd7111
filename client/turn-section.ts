import type { Contrast } from '../shared/evidence.js';
import type { ContractName } from '../shared/protocol.js';
import { createAnswerView } from './answer-view.js';
import type { PlayClip } from './clip-player.js';
import { el, onChange, svg } from './dom.js';
import { createEvidenceList } from './evidence-list.js';
import { createTimingView } from './timing-view.js';
import { thin, tracePath, trimEnd } from './trace-path.js';
import { cardsOf, faintCards, type RoundView, type TurnView } from './turn-view.js';
import { contrastWords, count, modeWords, seconds, skippedWords } from './words.js';
import type { EvidenceItem } from '../shared/evidence.js';

export interface TurnSection {
  readonly element: HTMLElement;
  /** A turn, or what is shown in advance of one. */
  update(turn: TurnView | null, preview: readonly EvidenceItem[], contract: ContractName): void;
}

/** One question with its answer, evidence, terms, rounds and times. */
export function createTurnSection(playClip: PlayClip): TurnSection {
  const question = el('div', { class: 'question' });
  const emergencies = el('div', { class: 'emergency', attributes: { role: 'alert' } });
  const evidence = createEvidenceList({ playClip, backToAnswer: () => answer.element.focus() });
  const answer = createAnswerView((evidenceId) => evidence.jumpTo(evidenceId));
  const evidenceTitle = el('h3', { text: 'Evidence' });
  const evidenceSection = el('section', { class: 'evidence', attributes: { 'aria-label': 'Evidence' } }, [
    evidenceTitle,
    evidence.element,
  ]);
  const terms = el('section', { class: 'terms', attributes: { 'aria-label': 'Terms' } });
  const rounds = el('section', { class: 'rounds', attributes: { 'aria-label': 'Rounds' } });
  const timing = createTimingView();
  const element = el('article', { class: 'turn-body' }, [
    question,
    emergencies,
    answer.element,
    terms,
    evidenceSection,
    el('div', { class: 'after' }, [rounds, timing.element]),
  ]);

  const showTurn = onChange((turn: TurnView, contract: ContractName) => {
    answer.update(turn, contract);
    replace(question, questionNodes(turn));
    replaceWhenNew(
      emergencies,
      turn.emergencies.map(({ message }) => message),
    );
    replace(terms, termNodes(turn.rounds));
    replace(rounds, roundNodes(turn));
    timing.update(turn.end?.kind === 'done' ? turn.end.timings : null, turn.source);
  });
  const showCards = onChange((turn: TurnView | null, preview: readonly EvidenceItem[]) => {
    const cards = turn ? cardsOf(turn) : faintCards(preview);
    evidence.update(cards);
    evidenceSection.hidden = cards.length === 0;
    evidenceTitle.textContent = cards.some((card) => card.isFaint) ? 'Evidence, while you speak' : 'Evidence';
  });
  return {
    element,
    update(turn, preview, contract) {
      element.hidden = !turn && preview.length === 0;
      showCards(turn, turn ? NONE : preview);
      if (turn) return showTurn(turn, contract);
      for (const part of [question, emergencies, answer.element, terms, rounds]) part.hidden = true;
      timing.update(null, 'speech');
    },
  };
}

const NONE: readonly EvidenceItem[] = [];

function replace(element: HTMLElement, nodes: Node[]): void {
  element.replaceChildren(...nodes);
  element.hidden = nodes.length === 0;
}

/** An alert is spoken when it changes, so it is changed only when there is something new. */
function replaceWhenNew(element: HTMLElement, messages: readonly string[]): void {
  element.hidden = messages.length === 0;
  if (element.children.length === messages.length) return;
  element.replaceChildren(...messages.map((message) => el('p', { text: message })));
}

/** What was asked: its words where there are any, and its sound as a trace. */
export function questionNodes(turn: TurnView): Node[] {
  const heard = turn.transcript?.text ?? '';
  const words = turn.asked ?? (heard === '' ? null : heard);
  const spoken = turn.source === 'speech' ? `${seconds(turn.spokenMs)} of sound, ` : '';
  const note = `${spoken}${modeWords(turn.queryMode)}`;
  return [
    turn.source === 'speech' ? traceOf(turn) : null,
    words === null
      ? el('h2', { class: 'unwritten', text: 'Your question, as it sounded' })
      : el('h2', {}, [`“${words}”`]),
    el('p', { class: 'question-note', text: note }),
    turn.asked !== null && heard !== ''
      ? el('p', { class: 'question-note', text: `Words heard: “${heard}”` })
      : null,
  ].filter((node) => node !== null);
}

function traceOf(turn: TurnView): SVGElement {
  const path = svg('path', { d: tracePath(thin(trimEnd(turn.levels)), 300, 44) });
  const label = `Sound of the question, ${seconds(turn.spokenMs)} long`;
  return svg(
    'svg',
    { class: 'trace', viewBox: '0 0 300 44', preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
    [path],
  );
}

/** Corrections, and terms that are told apart; the same pair of two rounds is shown once. */
function termNodes(rounds: readonly RoundView[]): Node[] {
  const corrections = rounds.flatMap((round) => round.corrections);
  const contrasts = new Map(
    rounds.flatMap((round) => round.contrasts).map((contrast) => [`${contrast.a}\n${contrast.b}`, contrast]),
  );
  const items = [
    ...corrections.map(({ from, to, score }) =>
      el('li', { class: 'correction' }, [
        el('span', { text: from }),
        spoken('→', 'was taken for'),
        el('strong', { text: to }),
        el('small', { text: `${String(Math.round(score * 100))} % sure` }),
      ]),
    ),
    ...[...contrasts.values()].filter(({ kind }) => kind !== 'co-mentioned').map(contrastNode),
  ];
  return items.length === 0 ? [] : [el('h3', { text: 'Told apart' }), el('ul', { class: 'chips' }, items)];
}

function contrastNode({ a, b, kind }: Contrast): HTMLElement {
  const { sign, words } = contrastWords(kind);
  return el('li', { class: `contrast ${kind}` }, [
    el('span', { text: a }),
    spoken(sign, words),
    el('span', { text: b }),
  ]);
}

/** A sign for the eye with its words for the ear. */
function spoken(sign: string, words: string): HTMLElement {
  return el('span', { class: 'sign', attributes: { title: words } }, [
    el('span', { text: sign, attributes: { 'aria-hidden': 'true' } }),
    el('span', { class: 'unseen', text: ` ${words} ` }),
  ]);
}

function roundNodes(turn: TurnView): Node[] {
  if (turn.rounds.length === 0) return [];
  const list = turn.rounds.map((round) => el('li', {}, [el('p', {}, roundWords(round))]));
  return [el('h3', { text: 'Rounds' }), el('ol', { class: 'round-list' }, list)];
}

function roundWords(round: RoundView): Array<string | HTMLElement> {
  const words: Array<string | HTMLElement> = [];
  if (round.query === null) words.push(round.round === 1 ? 'Asked with your question' : 'Looked again');
  else words.push('Looked again with ', el('q', { text: round.query }));
  if (round.items.length > 0) words.push(`; ${count(round.items.length, 'piece')} of evidence`);
  if (round.skipped !== null) words.push(`; not answered, because ${skippedWords(round.skipped)}`);
  else if (round.answer?.abstained) words.push('; not enough for an answer');
  else if (round.answer) words.push('; answered');
  return [...words, '.'];
}
