import { createClipPlayer, type PlayClip } from './clip-player.js';
import { el, onChange } from './dom.js';
import type { Card } from './turn-view.js';
import { foundWords, storeWords } from './words.js';

export interface EvidenceList {
  readonly element: HTMLElement;
  update(cards: readonly Card[]): void;
  /** Brings a card into view, gives it the focus and lets it glow. */
  jumpTo(evidenceId: string): void;
}

/** Shorter texts fit into the lines of a clamped card at every width worth clamping at. */
const CLAMPED_CHARACTERS = 240;

interface CardElement {
  readonly element: HTMLElement;
  update(card: Card): void;
}

/** The cards, one element for each piece of evidence for as long as it is shown: a faint card settles, it is not replaced. */
export function createEvidenceList(options: { backToAnswer: () => void; playClip: PlayClip }): EvidenceList {
  const list = el('ol', { class: 'cards' });
  const shown = new Map<string, CardElement>();
  return {
    element: list,
    update: onChange((cards: readonly Card[]) => {
      const wanted = new Set(cards.map(({ item }) => item.id));
      for (const [id, card] of shown) {
        if (wanted.has(id)) continue;
        card.element.remove();
        shown.delete(id);
      }
      cards.forEach((card, index) => {
        const known = shown.get(card.item.id) ?? createCard(card, options);
        shown.set(card.item.id, known);
        known.update(card);
        if (list.children[index] !== known.element)
          list.insertBefore(known.element, list.children[index] ?? null);
      });
    }),
    jumpTo(evidenceId) {
      const card = shown.get(evidenceId)?.element;
      if (!card) return;
      const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
      card.scrollIntoView({ block: 'center', behavior: isCalm ? 'auto' : 'smooth' });
      card.focus({ preventScroll: true });
      list.querySelectorAll('.glowing').forEach((other) => other.classList.remove('glowing'));
      // Read a layout value so that the glow begins again on a card that glowed before.
      void card.offsetWidth;
      card.classList.add('glowing');
    },
  };
}

function createCard(first: Card, options: { backToAnswer: () => void; playClip: PlayClip }): CardElement {
  const { item } = first;
  const bead = el('span', { class: 'bead' });
  const text = el('p', { class: 'card-text' });
  const found = el('p', { class: 'found' });
  const cited = el('button', {
    class: 'back',
    text: '↑ cited in the answer',
    attributes: { type: 'button' },
    onClick: options.backToAnswer,
  });
  const title = item.url
    ? el('a', {
        text: item.title,
        attributes: { href: item.url, target: '_blank', rel: 'noopener noreferrer' },
      })
    : item.title;
  const details = el('details', { class: 'provenance' });
  const more = el('button', {
    class: 'back',
    text: 'show all',
    attributes: { type: 'button', 'aria-expanded': 'false' },
    onClick: () => {
      const isWhole = element.classList.toggle('whole');
      more.setAttribute('aria-expanded', String(isWhole));
      more.textContent = isWhole ? 'show less' : 'show all';
    },
  });
  const element = el('li', { class: 'card', attributes: { tabindex: -1 } }, [
    el('div', { class: 'card-head' }, [
      bead,
      el('h4', {}, [title]),
      el('span', { class: `store store-${item.store}`, text: storeWords(item.store) }),
    ]),
    text,
    item.clip ? createClipPlayer(item.clip, item.title, options.playClip) : null,
    el('div', { class: 'card-foot' }, [found, more, cited]),
    details,
  ]);
  return {
    element,
    update: onChange((card: Card) => {
      element.id = `card-${String(card.number)}`;
      element.setAttribute(
        'aria-label',
        `${card.isFaint ? 'In advance, ' : ''}evidence ${String(card.number)}: ${card.item.title}`,
      );
      element.classList.toggle('faint', card.isFaint);
      element.classList.toggle('cited', card.quotes.length > 0);
      bead.textContent = String(card.number);
      text.replaceChildren(...markQuotes(card.item.text, card.quotes));
      found.textContent = foundLine(card);
      cited.hidden = card.quotes.length === 0;
      more.hidden = card.quotes.length > 0 || card.item.text.length < CLAMPED_CHARACTERS;
      details.replaceChildren(...provenance(card));
    }),
  };
}

function foundLine({ item, round }: Card): string {
  // Words such as “the” match everywhere and explain nothing.
  const telling = (item.matchedTerms ?? []).filter((term) => term.length >= 4).slice(0, 6);
  const terms = telling.length > 0 ? `: ${telling.join(', ')}` : '';
  const later = round > 1 ? ` in round ${String(round)}` : '';
  return `${foundWords(item)}${later}${terms}`;
}

function provenance({ item }: Card): Node[] {
  const rows: Array<[string, string]> = [
    ['Similarity', item.rawScore.toFixed(3)],
    ['Above its store’s mean', `${item.normalisedScore.toFixed(2)} standard deviations`],
    ['Score after merging', item.score.toFixed(3)],
    ['Document', item.documentId],
    ['Characters', `${String(item.span.start)}–${String(item.span.end)}`],
    ['Evidence id', item.id],
  ];
  return [
    el('summary', { text: `similarity ${item.rawScore.toFixed(2)}` }),
    el(
      'dl',
      {},
      rows.flatMap(([name, value]) => [el('dt', { text: name }), el('dd', { text: value })]),
    ),
  ];
}

/** The text with the quoted words marked; a quote that does not stand in it is not marked. */
export function markQuotes(text: string, quotes: readonly string[]): Array<string | HTMLElement> {
  const spans = quotes
    .map((quote) => ({ start: text.indexOf(quote), length: quote.length }))
    .filter(({ start, length }) => start >= 0 && length > 0)
    .sort((a, b) => a.start - b.start);
  const parts: Array<string | HTMLElement> = [];
  let from = 0;
  for (const { start, length } of spans) {
    if (start < from) continue;
    parts.push(text.slice(from, start), el('mark', { text: text.slice(start, start + length) }));
    from = start + length;
  }
  return [...parts, text.slice(from)];
}
