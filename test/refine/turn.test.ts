import { describe, expect, it } from 'vitest';
import type { ServerEventOf } from '../../shared/protocol.js';
import { TERMINAL_EVENTS } from '../../shared/protocol.js';
import { evidenceOf } from '../fixtures/prompts.js';
import { NO_GROUNDING, setUpTurn, type TurnUnderTest } from '../fixtures/turns.js';

const SALT = evidenceOf('salt#0', 'Hypertension is lasting high blood pressure in the arteries.');
const LOW = evidenceOf('low#0', 'Hypotension is blood pressure that is lower than the body needs.');
const UNSUPPORTED = { label: 'UNSUPPORTED', evidenceIds: [], reason: 'No words of it stand there.' } as const;
const SUPPORTED = { label: 'SUPPORTED', evidenceIds: ['low#0'], reason: 'Verbatim.' } as const;
const CORRECTED = {
  ...NO_GROUNDING,
  corrections: [{ from: 'hypertensoin', to: 'hypertension', score: 0.93 }],
  proposals: [
    {
      from: 'hypertensoin',
      to: 'hypertension',
      termId: 't1',
      phonetic: 1,
      edit: 0.9,
      semantic: 0.4,
      score: 0.93,
      accepted: true,
      reason: 'misspelt',
    },
  ],
};

function eventOf<T extends string>(test: TurnUnderTest, type: T): ServerEventOf<T & 'turn.done'> {
  const found = test.said.find((event) => event.type === type);
  if (!found) throw new Error(`${type} was not said; said: ${test.types().join(', ')}`);
  return found as unknown as ServerEventOf<T & 'turn.done'>;
}

describe('a turn', () => {
  it('says evidence before the answer, and ends once', async () => {
    const test = setUpTurn({ rounds: [{ items: [SALT] }] });
    await test.ask('What is hypertension?');
    const order = test.types().filter((type, index, all) => type !== all[index - 1]);
    expect(order).toEqual([
      'turn.started',
      'evidence',
      'grounding',
      'answer.delta',
      'answer.done',
      'turn.done',
    ]);
    expect(eventOf(test, 'turn.done').stopReason).toBe('answered');
  });

  it('is rejected with no_evidence when the stores are empty, and nothing is generated', async () => {
    const test = setUpTurn({ rounds: [{ items: [] }] });
    await test.ask('What is hypertension?');
    expect(test.types()).toEqual(['turn.started', 'turn.rejected']);
    expect(test.generator.calls).toHaveLength(0);
  });

  it('does not generate again when round 2 finds nothing better: no_gain, one generation call', async () => {
    const test = setUpTurn({
      rounds: [
        { items: [SALT], bestScore: 0.8 },
        { items: [LOW], bestScore: 0.809 },
      ],
      groundings: [CORRECTED],
      verdicts: [UNSUPPORTED],
    });
    await test.ask('What is hypertensoin?');
    expect(test.said.filter((event) => event.type === 'round.skipped')).toMatchObject([
      { round: 2, reason: 'no_gain' },
    ]);
    expect(test.generator.calls).toHaveLength(1);
    expect(test.traces[0]?.calls).toMatchObject({ generate: 1, retrieve: 2 });
    expect(eventOf(test, 'turn.done').stopReason).toBe('no_gain');
  });

  it('does not generate again when round 2 shows the generator nothing new', async () => {
    const test = setUpTurn({
      rounds: [
        { items: [SALT], bestScore: 0.5 },
        { items: [SALT], bestScore: 0.7 },
      ],
      groundings: [CORRECTED],
      verdicts: [UNSUPPORTED],
    });
    await test.ask('What is hypertensoin?');
    expect(test.generator.calls).toHaveLength(1);
    expect(eventOf(test, 'turn.done').stopReason).toBe('no_new_evidence');
  });

  it('answers a second time when round 2 gains 0.01 and shows something new', async () => {
    const test = setUpTurn({
      rounds: [
        { items: [SALT], bestScore: 0.5 },
        { items: [LOW], bestScore: 0.51 },
      ],
      groundings: [CORRECTED],
      verdicts: [UNSUPPORTED, SUPPORTED],
    });
    await test.ask('What is hypertensoin?');
    expect(test.generator.calls).toHaveLength(2);
    expect(test.traces[0]?.answer).toContain('lower than the body needs');
    expect(eventOf(test, 'turn.done').stopReason).toBe('answered');
  });

  it('tells which query consumed a correction, and keeps the question beside it', async () => {
    const test = setUpTurn({
      rounds: [
        { items: [SALT], bestScore: 0.5 },
        { items: [LOW], bestScore: 0.9 },
      ],
      groundings: [CORRECTED],
      verdicts: [UNSUPPORTED, SUPPORTED],
    });
    await test.ask('What is hypertensoin?');
    const [first, second] = test.traces[0]?.rounds ?? [];
    expect(first?.queries.map(({ source }) => source)).toEqual(['user_text']);
    expect(second?.queries.map(({ source }) => source)).toEqual(['user_text', 'generated_feedback']);
    expect(second?.queries[1]?.consumes).toContain('proposal:hypertensoin→hypertension');
    expect(second?.queries[1]?.text).toContain('hypertension');
    expect(second?.queries[1]?.vectors).toHaveLength(1);
  });

  it('never opens round 2 for an exam letter', async () => {
    const test = setUpTurn({
      rounds: [{ items: [SALT] }, { items: [LOW], bestScore: 1 }],
      groundings: [CORRECTED],
      verdicts: [UNSUPPORTED],
      generator: { script: () => [{ text: 'Correct Option: A', evidenceIds: ['salt#0'] }] },
      input: { contract: 'exam', choices: ['High pressure', 'Low pressure'] },
    });
    await test.ask('What is hypertension?');
    expect(test.retriever.requests).toHaveLength(1);
    expect(test.types()).not.toContain('round.started');
    expect(eventOf(test, 'turn.done').stopReason).toBe('no_terms');
  });

  it('asks once only when maxRounds is 1', async () => {
    const test = setUpTurn({
      rounds: [{ items: [SALT] }],
      groundings: [CORRECTED],
      verdicts: [UNSUPPORTED],
      input: { retrieval: { k: 8, fusion: 'zscore', maxRounds: 1 } },
    });
    await test.ask('What is hypertensoin?');
    expect(test.retriever.requests).toHaveLength(1);
  });

  it('withholds an unsafe answer with the reason and streams none of it', async () => {
    const text = 'Answer: Take two tablets of warfarin now.\nEvidence: [E1]';
    const test = setUpTurn({
      rounds: [{ items: [SALT] }],
      generator: { script: () => [{ text, evidenceIds: ['salt#0'] }] },
    });
    await test.ask('What is hypertension?');
    expect(test.types()).not.toContain('answer.delta');
    const done = test.said.find((event) => event.type === 'answer.done');
    expect(done).toMatchObject({
      answer: '',
      citations: [],
      withheld: expect.stringMatching(/dose/) as string,
    });
    expect(eventOf(test, 'turn.done').stopReason).toBe('withheld');
  });

  it('puts a notice of an emergency beside the evidence, before the answer', async () => {
    const notice = { kind: 'emergency', message: 'Call your emergency number now.' } as const;
    const test = setUpTurn({
      rounds: [{ items: [SALT] }],
      engines: { safety: { check: async () => notice } },
    });
    await test.ask('My chest hurts and my arm is numb.');
    const types = test.types();
    expect(types.indexOf('notice')).toBeGreaterThan(types.indexOf('evidence'));
    expect(types.indexOf('notice')).toBeLessThan(types.indexOf('answer.delta'));
    expect(types.filter((type) => type === 'notice')).toHaveLength(1);
  });

  it('fails with the code of the engine that failed, then ends once', async () => {
    const test = setUpTurn({
      rounds: [{ items: [SALT] }],
      engines: { retriever: { retrieve: () => Promise.reject(new Error('disk on fire')) } },
    });
    await test.ask('What is hypertension?');
    expect(test.types()).toEqual(['turn.started', 'error', 'turn.done']);
    expect(test.said[1]).toMatchObject({ code: 'internal', turnId: 'turn-1' });
    expect(eventOf(test, 'turn.done').stopReason).toBe('failed');
  });

  it('keeps the first answer when the second retrieval fails', async () => {
    const items = [SALT];
    let call = 0;
    const test = setUpTurn({
      groundings: [CORRECTED],
      verdicts: [UNSUPPORTED],
      engines: {
        retriever: {
          retrieve: async () => {
            call += 1;
            if (call > 1) throw new Error('gone');
            const timings = { retrieveSpeechMs: 0, retrieveTextMs: 0, fuseMs: 0 };
            return { items, hits: [], bestScore: 0.5, timings };
          },
        },
      },
    });
    await test.ask('What is hypertensoin?');
    expect(test.types()).toContain('answer.done');
    expect(test.types().filter((type) => (TERMINAL_EVENTS as readonly string[]).includes(type))).toEqual([
      'turn.done',
    ]);
  });

  it('ends at its deadline, whatever hangs', async () => {
    const test = setUpTurn({
      rounds: [{ items: [SALT] }],
      generator: { pace: () => new Promise(() => undefined) },
      input: { deadlineMs: 2_000 },
    });
    test.turn.ask(
      { kind: 'text', text: 'What is it?' },
      { t0Ms: 0, declaredMs: 0, setting: 'none', decodeMs: 0 },
    );
    await test.clock.advance(2_000);
    await test.turn.settled;
    expect(eventOf(test, 'turn.done').stopReason).toBe('deadline');
  });

  it('has timings whose parts add up to the whole', async () => {
    const test = setUpTurn({ rounds: [{ items: [SALT] }] });
    await test.clock.advance(700);
    test.turn.ask(
      { kind: 'text', text: 'What is it?' },
      { t0Ms: 100, declaredMs: 600, setting: 'vad.endSilenceMs', decodeMs: 2 },
    );
    await test.clock.advance(0);
    await test.turn.settled;
    const { timings } = eventOf(test, 'turn.done');
    const rounds = timings.rounds.reduce(
      (sum, r) =>
        sum +
        r.retrieveSpeechMs +
        r.retrieveTextMs +
        r.fuseMs +
        r.transcribeMs +
        r.groundMs +
        r.promptMs +
        r.generateMs +
        r.judgeMs,
      0,
    );
    expect(timings.endpointWaitMs).toBe(500);
    expect(
      timings.endpointWaitMs + timings.decodeMs + timings.encodeMs + rounds + timings.otherMs,
    ).toBeCloseTo(timings.doneMs, 6);
    expect(timings.doneMs).toBe(600);
    expect(timings.firstEvidenceMs).toBe(600);
  });
});
