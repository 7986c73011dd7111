import type { EvidenceItem } from '../shared/evidence.js';
import type { EffectiveConfig, ServerEvent } from '../shared/protocol.js';
import type { LineState } from './line-state.js';
import type { MicrophoneTrouble } from './microphone.js';
import { isOver, lostTurn, ofTurn, startTurn, type TurnView } from './turn-view.js';

/** Where sound comes from at the moment. */
export type Source =
  | { readonly kind: 'off' }
  /** Waiting for the browser's permission, or for a recording. */
  | { readonly kind: 'opening' }
  | { readonly kind: 'microphone' }
  | { readonly kind: 'sample'; readonly text: string };

/** Everything that the page shows. */
export interface ViewState {
  readonly line: LineState;
  readonly config: EffectiveConfig | null;
  readonly notices: readonly string[];
  readonly source: Source;
  /** Speech is being heard. */
  readonly isSpeaking: boolean;
  /** Speech has ended and its turn has not begun. */
  readonly hasStopped: boolean;
  readonly micTrouble: MicrophoneTrouble | null;
  /** Something went wrong that belongs to no turn: the words to show. */
  readonly problem: string | null;
  /** The last sound that did not become a question. */
  readonly rejection: { readonly reason: string; readonly message: string } | null;
  /** Evidence shown while the person may still go on. */
  readonly preview: readonly EvidenceItem[];
  /** Text of the question to come, where there is one: typed, or a sample's. */
  readonly asked: string | null;
  readonly turn: TurnView | null;
  /** Earlier turns, latest first. */
  readonly history: readonly TurnView[];
}

export type Action =
  | { readonly type: 'event'; readonly event: ServerEvent }
  | { readonly type: 'line'; readonly line: LineState }
  | { readonly type: 'source'; readonly source: Source }
  | { readonly type: 'microphone'; readonly trouble: MicrophoneTrouble | null }
  | { readonly type: 'asked'; readonly text: string | null }
  /** The loudness of the question, 0 … 1, one value a frame: its picture. */
  | { readonly type: 'heard'; readonly levels: readonly number[] }
  | { readonly type: 'problem'; readonly problem: string | null };

/** Turns kept in the page; older ones are forgotten. */
export const MAX_HISTORY = 20;

export const initialState: ViewState = {
  line: { kind: 'connecting' },
  config: null,
  notices: [],
  source: { kind: 'off' },
  isSpeaking: false,
  hasStopped: false,
  micTrouble: null,
  problem: null,
  rejection: null,
  preview: [],
  asked: null,
  turn: null,
  history: [],
};

/** What is shown after an action. Pure: the same state and action give the same, and nothing is changed in place. */
export function reduce(state: ViewState, action: Action): ViewState {
  switch (action.type) {
    case 'event':
      return onEvent(state, action.event);
    case 'line':
      return onLine(state, action.line);
    case 'source':
      return onSource(state, action.source);
    case 'microphone':
      return { ...state, micTrouble: action.trouble };
    case 'asked':
      return { ...shelve(state), asked: action.text, problem: null, rejection: null };
    case 'heard':
      return state.turn ? { ...state, turn: { ...state.turn, levels: action.levels } } : state;
    case 'problem':
      return { ...state, problem: action.problem };
  }
}

function onLine(state: ViewState, line: LineState): ViewState {
  if (line.kind === 'open' || line.kind === 'connecting') return { ...state, line };
  return { ...state, line, isSpeaking: false, hasStopped: false, preview: [] };
}

function onSource(state: ViewState, source: Source): ViewState {
  const isQuiet = source.kind === 'off';
  return {
    ...state,
    source,
    micTrouble: null,
    isSpeaking: isQuiet ? false : state.isSpeaking,
    ...(source.kind === 'opening' ? { rejection: null, problem: null } : {}),
  };
}

function onEvent(state: ViewState, event: ServerEvent): ViewState {
  switch (event.type) {
    case 'session.ready': {
      const ready = { ...state, config: event.config, notices: event.notices };
      return event.resumed || !state.turn ? ready : { ...ready, turn: lostTurn(state.turn) };
    }
    case 'session.configured':
      return { ...state, config: event.config };
    case 'speech.started':
      return {
        ...shelve(state),
        isSpeaking: true,
        hasStopped: false,
        preview: [],
        rejection: null,
        problem: null,
      };
    case 'speech.stopped':
      return { ...state, isSpeaking: false, hasStopped: true };
    case 'evidence.preview':
      return { ...state, preview: event.items };
    case 'turn.started': {
      const { history } = shelve(state, true);
      const turn = startTurn(event, { asked: state.asked, preview: state.preview });
      return { ...state, turn, history, asked: null, preview: [], hasStopped: false };
    }
    case 'turn.rejected': {
      const turn = state.turn?.turnId === event.turnId ? ofTurn(state.turn, event) : state.turn;
      const { reason, message } = event;
      return { ...state, turn, hasStopped: false, preview: [], rejection: { reason, message } };
    }
    case 'error':
      if (state.turn && event.turnId === state.turn.turnId)
        return { ...state, turn: ofTurn(state.turn, event) };
      return { ...state, problem: event.message };
    default:
      return 'turnId' in event && state.turn && event.turnId === state.turn.turnId
        ? { ...state, turn: ofTurn(state.turn, event) }
        : state;
  }
}

/** Moves a finished turn to the history, to make room for the next question; a running one only when it must go. */
function shelve(state: ViewState, always = false): ViewState {
  if (!state.turn || (!always && !isOver(state.turn))) return state;
  return { ...state, turn: null, history: [state.turn, ...state.history].slice(0, MAX_HISTORY) };
}
