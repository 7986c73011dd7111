import { answerBody } from '../shared/answer-forms.js';
import type { Contrast, Correction, EvidenceItem, Mention } from '../shared/evidence.js';
import type {
  ContractName,
  QueryMode,
  ServerEvent,
  ServerEventOf,
  StopReason,
  TurnTimings,
} from '../shared/protocol.js';

/** One round of a turn, as shown. */
export interface RoundView {
  readonly round: number;
  /** The words that this round asked with; null for the question itself. */
  readonly query: string | null;
  /** What those words were made of. */
  readonly consumes: readonly string[];
  readonly items: readonly EvidenceItem[];
  readonly sources: readonly string[];
  readonly entities: readonly Mention[];
  readonly corrections: readonly Correction[];
  readonly contrasts: readonly Contrast[];
  /** Text as it comes; `answer` replaces it. */
  readonly streamed: string;
  readonly answer: ServerEventOf<'answer.done'> | null;
  /** Why it was not answered. */
  readonly skipped: string | null;
}

export type TurnEnd =
  | {
      readonly kind: 'done';
      readonly stopReason: StopReason;
      readonly timings: TurnTimings;
      readonly traceId: string;
    }
  | { readonly kind: 'cancelled'; readonly reason: string }
  | { readonly kind: 'rejected'; readonly reason: string; readonly message: string }
  /** The connection broke and the session with it. */
  | { readonly kind: 'lost' };

/** One question with all that came of it. */
export interface TurnView {
  readonly turnId: string;
  readonly source: 'speech' | 'text';
  readonly queryMode: QueryMode;
  /** Text of the question that the page knows itself: typed, or a sample's. */
  readonly asked: string | null;
  readonly transcript: { readonly text: string; readonly confidence: number } | null;
  /** Length of the utterance, milliseconds; 0 for a typed question. */
  readonly spokenMs: number;
  readonly levels: readonly number[];
  readonly preview: readonly EvidenceItem[];
  readonly emergencies: ReadonlyArray<{ readonly kind: string; readonly message: string }>;
  readonly rounds: readonly RoundView[];
  readonly error: string | null;
  readonly end: TurnEnd | null;
}

export function startTurn(
  event: ServerEventOf<'turn.started'>,
  known: { readonly asked: string | null; readonly preview: readonly EvidenceItem[] },
): TurnView {
  return {
    turnId: event.turnId,
    source: event.source,
    queryMode: event.queryMode,
    asked: known.asked,
    transcript: null,
    spokenMs: Math.max(0, ...event.windows.map((window) => window.endMs)),
    levels: [],
    preview: event.source === 'speech' ? known.preview : [],
    emergencies: [],
    rounds: [],
    error: null,
    end: null,
  };
}

export function isOver(turn: TurnView): boolean {
  return turn.end !== null;
}

export function lostTurn(turn: TurnView): TurnView {
  return isOver(turn) ? turn : { ...turn, preview: [], end: { kind: 'lost' } };
}

/** The turn after one of its events; after its end nothing changes it. */
export function ofTurn(turn: TurnView, event: ServerEvent): TurnView {
  if (isOver(turn)) return turn;
  switch (event.type) {
    case 'evidence':
      return { ...inRound(turn, event.round, { items: event.items, sources: event.sources }), preview: [] };
    case 'transcript':
      return { ...turn, transcript: { text: event.text, confidence: event.confidence } };
    case 'notice':
      return { ...turn, emergencies: [...turn.emergencies, { kind: event.kind, message: event.message }] };
    case 'grounding': {
      const { entities, corrections, contrasts } = event;
      return inRound(turn, event.round, { entities, corrections, contrasts });
    }
    case 'answer.delta':
      return inRound(turn, event.round, { streamed: roundOf(turn, event.round).streamed + event.text });
    case 'answer.done':
      return inRound(turn, event.round, { answer: event });
    case 'round.started':
      return inRound(turn, event.round, { query: event.query, consumes: event.consumes });
    case 'round.skipped':
      return inRound(turn, event.round, { skipped: event.reason });
    case 'error':
      return { ...turn, error: event.message };
    case 'turn.done': {
      const { stopReason, timings, traceId } = event;
      return { ...turn, preview: [], end: { kind: 'done', stopReason, timings, traceId } };
    }
    case 'turn.cancelled':
      return { ...turn, preview: [], end: { kind: 'cancelled', reason: event.reason } };
    case 'turn.rejected':
      return {
        ...turn,
        preview: [],
        end: { kind: 'rejected', reason: event.reason, message: event.message },
      };
    default:
      return turn;
  }
}

function roundOf(turn: TurnView, round: number): RoundView {
  return turn.rounds.find((each) => each.round === round) ?? emptyRound(round);
}

function inRound(turn: TurnView, round: number, change: Partial<RoundView>): TurnView {
  const changed = { ...roundOf(turn, round), ...change };
  const others = turn.rounds.filter((each) => each.round !== round);
  return { ...turn, rounds: [...others, changed].sort((a, b) => a.round - b.round) };
}

function emptyRound(round: number): RoundView {
  return {
    round,
    query: null,
    consumes: [],
    items: [],
    sources: [],
    entities: [],
    corrections: [],
    contrasts: [],
    streamed: '',
    answer: null,
    skipped: null,
  };
}

/** The answer that counts: of the latest round that said anything. */
export function answerRound(turn: TurnView): RoundView | null {
  return turn.rounds.findLast((round) => round.answer !== null || round.streamed !== '') ?? null;
}

/** A card, in the order in which it is shown and numbered from 1. */
export interface Card {
  readonly item: EvidenceItem;
  readonly number: number;
  /** Shown in advance: it may still change. */
  readonly isFaint: boolean;
  /** Verbatim words that the answer leans on. */
  readonly quotes: readonly string[];
  /** First round that found it. */
  readonly round: number;
}

/** Evidence of the latest round that has any, then what the answer cites besides, without repetition. */
export function cardsOf(turn: TurnView): Card[] {
  if (turn.rounds.every((round) => round.items.length === 0)) return faintCards(turn.preview);
  const latest = turn.rounds.findLast((round) => round.items.length > 0)?.items ?? [];
  const citations = answerRound(turn)?.answer?.citations ?? [];
  const shown = new Map(latest.map((item) => [item.id, item]));
  for (const item of turn.rounds.flatMap((round) => round.items)) {
    if (!shown.has(item.id) && citations.some((citation) => citation.evidenceId === item.id))
      shown.set(item.id, item);
  }
  return [...shown.values()].map((item, index) => ({
    item,
    number: index + 1,
    isFaint: false,
    quotes: citations.filter(({ evidenceId }) => evidenceId === item.id).map(({ quote }) => quote),
    round: turn.rounds.find((round) => round.items.some(({ id }) => id === item.id))?.round ?? 1,
  }));
}

export function faintCards(items: readonly EvidenceItem[]): Card[] {
  return items.map((item, index) => ({ item, number: index + 1, isFaint: true, quotes: [], round: 1 }));
}

/** A stretch of the answer, with the numbers of the cards that it leans on. */
export interface AnswerPart {
  readonly text: string;
  readonly cites: ReadonlyArray<{ readonly evidenceId: string; readonly number: number }>;
}

/** The answer without its frame, cut where its citations end; their text joined is the whole. */
export function answerParts(turn: TurnView, contract: ContractName): AnswerPart[] {
  const round = answerRound(turn);
  if (!round) return [];
  const body = answerBody(round.answer?.contract ?? contract, round.answer?.answer ?? round.streamed);
  const numbers = new Map(cardsOf(turn).map((card) => [card.item.id, card.number]));
  const parts: AnswerPart[] = [];
  let from = 0;
  const citations = [...(round.answer?.citations ?? [])].sort((a, b) => a.end - b.end);
  for (const end of new Set(citations.map((citation) => citation.end))) {
    const to = Math.min(body.text.length, end - body.start);
    if (to <= from) continue;
    const ids = new Set(
      citations.filter((citation) => citation.end === end).map(({ evidenceId }) => evidenceId),
    );
    const cites = [...ids].flatMap((evidenceId) => {
      const number = numbers.get(evidenceId);
      return number === undefined ? [] : [{ evidenceId, number }];
    });
    parts.push({ text: body.text.slice(from, to), cites });
    from = to;
  }
  if (from < body.text.length) parts.push({ text: body.text.slice(from), cites: [] });
  return parts;
}
