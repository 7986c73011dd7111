import { describe, expect, it } from 'vitest';
import { initialState, reduce, type ViewState } from '../../client/view-state.js';
import { statusWords } from '../../client/status-words.js';
import { answerParts, cardsOf, type TurnView } from '../../client/turn-view.js';
import type { OutgoingEvent } from '../../shared/protocol.js';
import { turnEvents } from '../fixtures/scripted-session.js';
import { evidence, evidenceItem } from '../fixtures/page-events.js';

/** The state after events, stamped in order. */
function after(events: readonly OutgoingEvent[], from: ViewState = initialState): ViewState {
  return events.reduce<ViewState>(
    (state, event, seq) => reduce(state, { type: 'event', event: { ...event, seq, atMs: 0 } }),
    from,
  );
}

function turnOf(state: ViewState): TurnView {
  if (!state.turn) throw new Error('there is no turn');
  return state.turn;
}

const open: ViewState = { ...initialState, line: { kind: 'open' } };
const started: Extract<OutgoingEvent, { type: 'turn.started' }> = {
  type: 'turn.started',
  turnId: 't',
  source: 'speech',
  queryMode: 'speech',
  windows: [],
};

describe('the page’s state', () => {
  it('shows evidence faintly while the person speaks and settles it when the turn has it', () => {
    const speaking = after([
      { type: 'speech.started', speechMs: 0 },
      { type: 'evidence.preview', items: evidence },
    ]);
    expect(speaking.preview).toHaveLength(3);
    const begun = after([started], speaking);
    expect(begun.preview).toHaveLength(0);
    expect(cardsOf(turnOf(begun)).map((card) => card.isFaint)).toEqual([true, true, true]);
    const settled = after(
      [{ type: 'evidence', turnId: 't', round: 1, items: evidence, sources: ['speech'] }],
      begun,
    );
    expect(cardsOf(turnOf(settled)).map((card) => [card.number, card.isFaint])).toEqual([
      [1, false],
      [2, false],
      [3, false],
    ]);
  });

  it('forgets the preview when the person goes on speaking', () => {
    const state = after([
      { type: 'evidence.preview', items: evidence },
      { type: 'speech.started', speechMs: 900 },
    ]);
    expect(state.preview).toEqual([]);
  });

  it('cuts the answer at its citations, without the frame of the contract', () => {
    const turn = turnOf(after(turnEvents('t', 'speech')));
    expect(answerParts(turn, 'open')).toEqual([
      {
        text: 'Hypertension is blood pressure that is too high, and hypotension is blood pressure that is too low.',
        cites: [{ evidenceId: 'p-1', number: 1 }],
      },
    ]);
    expect(cardsOf(turn)[0]?.quotes).toHaveLength(1);
  });

  it('shows the streamed answer without its frame before it is done', () => {
    const turn = turnOf(
      after([
        started,
        { type: 'answer.delta', turnId: 't', round: 1, text: 'Answer: Half', evidenceIds: [] },
        { type: 'answer.delta', turnId: 't', round: 1, text: ' a sentence', evidenceIds: [] },
      ]),
    );
    expect(answerParts(turn, 'open')).toEqual([{ text: 'Half a sentence', cites: [] }]);
  });

  it('keeps a cited card of round 1 when round 2 finds other evidence', () => {
    const turn = turnOf(
      after([
        ...turnEvents('t', 'speech').slice(0, 5),
        { type: 'evidence', turnId: 't', round: 2, items: [evidenceItem('new')], sources: ['speech'] },
      ]),
    );
    expect(cardsOf(turn).map((card) => [card.item.id, card.round])).toEqual([
      ['new', 2],
      ['p-1', 1],
    ]);
  });

  it('changes nothing of a turn after its end', () => {
    const ended = after([started, { type: 'turn.cancelled', turnId: 't', reason: 'client' }]);
    const late = after(
      [{ type: 'answer.delta', turnId: 't', round: 1, text: 'late', evidenceIds: [] }],
      ended,
    );
    expect(late.turn).toEqual(ended.turn);
  });

  it('ignores events of a turn that is not shown', () => {
    const state = after([started]);
    expect(after([{ type: 'notice', turnId: 'other', kind: 'emergency', message: 'x' }], state)).toEqual(
      state,
    );
  });

  it('moves the finished turn to the history when the next question begins, and a running one when it is overtaken', () => {
    const first = after(turnEvents('one', 'speech'));
    const next = after([{ type: 'speech.started', speechMs: 0 }], first);
    expect([next.turn, next.history.map((turn) => turn.turnId)]).toEqual([null, ['one']]);
    const two = after(
      [
        { ...started, turnId: 'two' },
        { ...started, turnId: 'three' },
      ],
      next,
    );
    expect([two.turn?.turnId, two.history.map((turn) => turn.turnId)]).toEqual(['three', ['two', 'one']]);
  });

  it('names a typed question by its own text, and only that one', () => {
    const asked = reduce(initialState, { type: 'asked', text: 'What is gout?' });
    const state = after([{ ...started, source: 'text' }], asked);
    expect(state.turn?.asked).toBe('What is gout?');
    expect(after([{ ...started, turnId: 'u' }], state).turn?.asked).toBeNull();
  });

  it('says why sound did not become a question, until the next one begins', () => {
    const rejected = after(
      [{ type: 'turn.rejected', turnId: 't', reason: 'noise', message: 'That was noise.' }],
      open,
    );
    expect(statusWords(rejected)).toBe('That was noise.');
    expect(after([{ type: 'speech.started', speechMs: 0 }], rejected).rejection).toBeNull();
  });

  it('puts an error with the turn that it belongs to, else above the page', () => {
    const error = { type: 'error', code: 'internal', message: 'It broke.', retryable: false } as const;
    expect(after([started, { ...error, turnId: 't' }]).turn?.error).toBe('It broke.');
    expect(after([started, error]).problem).toBe('It broke.');
  });

  it('gives a running turn up when a new session begins instead of the old', () => {
    const ready = turnlessReady();
    expect(after([started, ready]).turn?.end).toEqual({ kind: 'lost' });
    expect(after([started, { ...ready, resumed: true }]).turn?.end).toBeNull();
  });

  it('has a status sentence for every step', () => {
    const steps: ViewState[] = [
      initialState,
      { ...initialState, line: { kind: 'connecting', waitingFor: ['loading the ear'] } },
      open,
      reduce(open, { type: 'source', source: { kind: 'microphone' } }),
      after([{ type: 'speech.started', speechMs: 0 }], open),
      after([{ type: 'speech.stopped', speechMs: 0, reason: 'silence' }], open),
      after([started], open),
      after(turnEvents('t', 'speech').slice(0, 2), open),
      after(turnEvents('t', 'speech'), open),
    ];
    expect(steps.map(statusWords)).toEqual([
      'Connecting to the server …',
      'The server is still getting ready: loading the ear.',
      'Press the disc and ask a question.',
      'Listening. Ask your question.',
      'Hearing you …',
      'Heard. Looking for evidence …',
      'Looking for evidence …',
      '3 pieces of evidence. Writing the answer …',
      'Stopped: another look brought nothing better. Press the disc to ask another.',
    ]);
  });
});

function turnlessReady(): Extract<OutgoingEvent, { type: 'session.ready' }> {
  return {
    type: 'session.ready',
    sessionId: 's',
    resumeToken: 'r',
    resumed: false,
    missedEvents: 0,
    version: 1,
    config: null as never,
    limits: {},
    notices: [],
  };
}
