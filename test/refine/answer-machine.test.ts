import { describe, expect, it } from 'vitest';
import { getAdjacencyMap } from 'xstate/graph';
import type { EventFromLogic, SnapshotFrom } from 'xstate';
import { answerMachine } from '../../server/refine/answer-machine.js';
import type { TurnInput } from '../../server/refine/turn-types.js';
import type { Grounding } from '../../server/ground/grounding.js';
import { createFakeClock } from '../fakes/fake-clock.js';
import { evidenceOf, promptOf } from '../fixtures/prompts.js';
import { NO_GROUNDING, PLAIN_INPUT } from '../fixtures/turns.js';

type Snapshot = SnapshotFrom<typeof answerMachine>;
type MachineEvent = EventFromLogic<typeof answerMachine>;

/** The graph functions ask for logic whose emitted events are of any kind. */
const logic = answerMachine as unknown as Parameters<
  typeof getAdjacencyMap<Snapshot, MachineEvent, TurnInput>
>[0];

const STATES = [
  'listening',
  'working.encoding',
  'working.retrieving',
  'working.transcribing',
  'working.joining',
  'working.grounding',
  'working.prompting',
  'working.generating',
  'working.judging',
  'done',
  'cancelled',
  'rejected',
  'failed',
];

const vector = new Float32Array([1, 0]);
const gap: Grounding = {
  ...NO_GROUNDING,
  contrasts: [{ a: 'hypertension', b: 'hypotension', kind: 'look-alike', evidenceIds: ['a#0'] }],
  gap: 'The evidence is about the other one.',
};

/** Everything that an actor may answer in a state, in as many kinds as the machine tells apart. */
function outcomes(state: string, round: number): unknown[] {
  const retrieval = (bestScore: number, items: number) => ({
    queries: [{ query: { source: 'speech', vectors: [vector] }, consumes: [] }],
    retrieval: {
      items: items === 0 ? [] : [evidenceOf(`a#${round}`, `Text ${round}.`)],
      hits: [],
      bestScore,
      timings: { retrieveSpeechMs: 1, retrieveTextMs: 0, fuseMs: 0 },
    },
  });
  const answer = (text: string, abstained: boolean, withheld: string | null) => ({
    answer: { text, chunks: [], parsed: null, valid: true, abstained, withheld, citations: [] },
    generateMs: 1,
  });
  const verdict = (label: string) => ({
    support: { label, evidenceIds: [], reason: '', judge: 'x' },
    judgeMs: 1,
  });
  switch (state) {
    case 'working.encoding':
      return [
        { query: { source: 'speech', vectors: [vector] }, encoded: [], encodeMs: 1, speculative: false },
      ];
    case 'working.retrieving':
      return [retrieval(round / 10, 1), retrieval(0.1, 1), retrieval(-1, 0)];
    case 'working.joining':
      return [retrieval(0.1, 1)];
    case 'working.transcribing':
      return [
        { transcript: { text: '', tokens: [], confidence: 0 }, query: null, transcribeMs: 1 },
        {
          transcript: { text: 'words', tokens: [], confidence: 1 },
          query: { query: { source: 'asr', vectors: [vector], text: 'words' }, consumes: [] },
          transcribeMs: 1,
        },
      ];
    case 'working.grounding':
      return [NO_GROUNDING, gap].map((grounding) => ({ grounding, notice: null, groundMs: 1 }));
    case 'working.prompting':
      return [`Fresh ${round}.`, 'The same.'].map((text) => ({
        prompt: promptOf({ question: null, texts: [text], heard: 'x' }),
        promptMs: 1,
      }));
    case 'working.generating':
      return [
        answer(`Answer: Thiazide${'abc'[round] ?? ''} helps.\nEvidence: [E1]`, false, null),
        answer('insufficient evidence', true, null),
        answer('Take ten.', false, 'It tells a dose.'),
      ];
    case 'working.judging':
      return ['SUPPORTED', 'UNSUPPORTED', 'UNSAFE'].map(verdict);
    default:
      return [];
  }
}

function valueOf(snapshot: Snapshot): string {
  return typeof snapshot.value === 'string' ? snapshot.value : `working.${snapshot.value.working}`;
}

function eventsOf(snapshot: Snapshot): MachineEvent[] {
  const state = valueOf(snapshot);
  const question = { kind: 'speech' as const, windows: [], samples: [], encoded: null };
  if (state === 'listening') {
    return [
      { type: 'question', question },
      { type: 'reject', reason: 'noise', message: '' },
      { type: 'cancel', reason: 'client' },
    ];
  }
  const actorId = Object.keys(snapshot.children)[0];
  if (snapshot.status !== 'active' || actorId === undefined) return [];
  const settled = outcomes(state, snapshot.context.rounds.length).map((output) => ({
    type: `xstate.done.actor.${actorId}`,
    output,
    actorId,
  }));
  const failed = { type: `xstate.error.actor.${actorId}`, error: new Error('down'), actorId };
  return [...settled, failed, { type: 'cancel', reason: 'client' }] as unknown as MachineEvent[];
}

/** Snapshots are the same when the same can happen from them. */
function serialize(snapshot: Snapshot): string {
  const { context } = snapshot;
  const rounds = context.rounds.map((round) => [
    round.retrieval?.bestScore,
    round.retrieval?.items.length,
    round.grounding?.gap,
    round.prompt?.visible[0]?.snippet,
    round.answer?.text,
    round.support?.label,
    round.skipped,
  ]);
  return JSON.stringify([
    snapshot.value,
    rounds,
    context.feedback,
    context.stopReason,
    context.calls,
    context.queries.length,
  ]);
}

interface Node {
  readonly state: Snapshot;
  readonly transitions: Readonly<Record<string, { readonly state: Snapshot }>>;
}

function enumerate(maxRounds: number, queryMode: 'speech' | 'speech+words'): Record<string, Node> {
  const { nowMs } = createFakeClock();
  const map: unknown = getAdjacencyMap(logic, {
    input: { ...PLAIN_INPUT, queryMode, nowMs, retrieval: { k: 8, fusion: 'zscore', maxRounds } },
    events: eventsOf,
    serializeState: serialize,
    limit: 200_000,
  });
  return map as Record<string, Node>;
}

/** Longest path from the first state; the graph has no cycle, since every step adds to the context. */
function longestPath(map: ReturnType<typeof enumerate>): number {
  const depths = new Map<string, number>();
  const depthOf = (key: string): number => {
    const known = depths.get(key);
    if (known !== undefined) {
      if (known < 0) throw new Error('A turn can go round for ever.');
      return known;
    }
    depths.set(key, -1);
    const next = Object.values(map[key]?.transitions ?? {});
    const depth = next.reduce((most, { state }) => Math.max(most, 1 + depthOf(serialize(state))), 0);
    depths.set(key, depth);
    return depth;
  };
  return depthOf(Object.keys(map)[0] ?? '');
}

describe('the answer machine, all its paths', () => {
  it('reaches every state, and every path ends in one of the four ends', () => {
    const snapshots = Object.values(enumerate(2, 'speech+words')).map(({ state }) => state);
    expect(new Set(snapshots.map(valueOf))).toEqual(new Set(STATES));
    const stuck = snapshots.filter(
      (snapshot) => snapshot.status === 'active' && eventsOf(snapshot).length === 0,
    );
    expect(stuck).toEqual([]);
    const ended = snapshots.filter(({ status }) => status === 'done').map(valueOf);
    expect(new Set(ended)).toEqual(new Set(['done', 'cancelled', 'rejected', 'failed']));
  });

  it.each([
    [1, 7],
    [2, 12],
    [3, 17],
  ])('takes at most a bounded number of steps with %i round(s): %i', (maxRounds, steps) => {
    expect(longestPath(enumerate(maxRounds, 'speech'))).toBe(steps);
  });

  it('never generates more often than maxRounds, nor in a round without gain or new evidence', () => {
    for (const { state } of Object.values(enumerate(3, 'speech'))) {
      const { calls, rounds } = state.context;
      expect(calls.generate).toBeLessThanOrEqual(3);
      const skipped = rounds.filter(
        (round) => round.skipped === 'no_gain' || round.skipped === 'no_new_evidence',
      );
      expect(skipped.every((round) => round.answer === null)).toBe(true);
    }
  });

  it('never transcribes in mode speech', () => {
    const values = Object.values(enumerate(2, 'speech')).map(({ state }) => valueOf(state));
    expect(values).not.toContain('working.transcribing');
  });
});
