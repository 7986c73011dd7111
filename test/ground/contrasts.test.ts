import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findContrasts, MAX_CONTRASTS, type Entity } from '../../server/ground/contrasts.js';
import { createPairSet, type Term } from '../../server/ground/term-list.js';
import { groundText, runGround } from '../../server/commands/ground-command.js';
import { createFakeGrounder } from '../fakes/fake-grounder.js';

const entity = (name: string, over: Partial<Entity> = {}, kind: Term['kind'] = 'disease'): Entity => ({
  term: { id: `t:${name}`, name, synonyms: [], kind },
  surfaces: [name],
  evidenceIds: ['d1'],
  inQuery: false,
  generic: false,
  condition: kind === 'disease',
  ...over,
});
const options = {
  confusable: createPairSet([['losec', 'lasix']]),
  sameDrug: createPairSet([['rifampin', 'rifampicin']]),
};

describe('contrasts', () => {
  it.each([
    ['look-alike', 'lasix', 'losec'],
    ['synonym-of', 'rifampicin', 'rifampin'],
    ['differs-by', 'hypertension', 'hypotension'],
    ['differs-by', 'type 1 diabetes', 'type 2 diabetes'],
    ['subtype-of', 'pulmonary hypertension', 'hypertension'],
    ['co-mentioned', 'asthma', 'epilepsy'],
  ])('say %s of %s and %s', (kind, a, b) => {
    expect(findContrasts([entity(a), entity(b)], options)).toEqual([{ a, b, kind, evidenceIds: ['d1'] }]);
    expect(findContrasts([entity(b), entity(a)], options)).toEqual([{ a, b, kind, evidenceIds: ['d1'] }]);
  });

  it('say of two names of one term that they are the same', () => {
    const both = entity('hypertension', { surfaces: ['hypertension', 'high blood pressure'] });
    expect(findContrasts([both], options)).toEqual([
      { a: 'hypertension', b: 'high blood pressure', kind: 'synonym-of', evidenceIds: ['d1'] },
    ]);
  });

  it('say nothing of forms of one word, nor of company in different evidence', () => {
    expect(findContrasts([entity('diabetes'), entity('diabetic')], options)).toEqual([]);
    expect(findContrasts([entity('asthma'), entity('epilepsy', { evidenceIds: ['d2'] })], options)).toEqual(
      [],
    );
  });

  it('put what can be confused first and mere company last', () => {
    const kinds = findContrasts(
      ['asthma', 'hypertension', 'hypotension', 'losec', 'lasix'].map((name) => entity(name)),
      options,
    );
    expect(kinds.slice(0, 3).map(({ kind }) => kind)).toEqual(['look-alike', 'differs-by', 'co-mentioned']);
  });

  it('put the question before all else', () => {
    const asked = { inQuery: true };
    const found = findContrasts(
      [
        entity('hypertension', asked),
        entity('hypotension', asked),
        entity('lasix'),
        entity('losec'),
        entity('white coat hypertension'),
        entity('orthostatic hypotension'),
      ],
      options,
    );
    expect(found[0]).toMatchObject({ a: 'hypertension', b: 'hypotension', kind: 'differs-by' });
    expect(found[1]).toMatchObject({ a: 'lasix', b: 'losec' });
  });

  it('keep company only with a subject, between specific names, and at most twice', () => {
    const stroke = entity('stroke', { evidenceIds: ['d1', 'd2'], condition: true }, 'heading');
    const others = ['asthma', 'epilepsy', 'measles'].map((name) => entity(name));
    const everyday = entity('blood', { generic: true }, 'heading');
    const tool = entity('catheter', {}, 'heading');
    const found = findContrasts([stroke, ...others, everyday, tool], { ...options, best: new Set(['d1']) });
    expect(found).toHaveLength(2);
    for (const { a, b, kind } of found) {
      expect(kind).toBe('co-mentioned');
      expect([a, b]).toContain('stroke');
      expect([a, b]).not.toContain('blood');
    }
    expect(findContrasts([tool, entity('gauze', {}, 'heading')], options)).toEqual([]);
  });

  it('leave out narrower names that have to do with no subject', () => {
    const stroke = entity('stroke', { inQuery: true });
    const found = findContrasts([stroke, entity('dementia'), entity('Lewy body dementia')], options);
    expect(found.filter(({ kind }) => kind === 'subtype-of')).toEqual([]);
  });

  it('are at most eight and do not depend on the order of entities', () => {
    const names = [
      'asthma',
      'losec',
      'lasix',
      'hypertension',
      'hypotension',
      'rifampin',
      'rifampicin',
      'type 1 diabetes',
      'type 2 diabetes',
      'epilepsy',
    ];
    const expected = findContrasts(
      names.map((name) => entity(name)),
      options,
    );
    expect(expected.length).toBeLessThanOrEqual(MAX_CONTRASTS);
    fc.assert(
      fc.property(fc.shuffledSubarray(names, { minLength: names.length }), (shuffled) => {
        expect(
          findContrasts(
            shuffled.map((name) => entity(name)),
            options,
          ),
        ).toEqual(expected);
      }),
    );
  });
});

describe('the ground command', () => {
  it('prints one JSON object, with the text as the evidence', async () => {
    const lines: string[] = [];
    await runGround('hypertension or hypotension', {
      json: true,
      print: (line) => lines.push(line),
      grounder: createFakeGrounder(),
    });
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      corrections: [],
      contrasts: [{ a: 'hypertension', b: 'hypotension', kind: 'differs-by', evidenceIds: ['text'] }],
    });
  });

  it('reads contrasts off the corrected text', async () => {
    const { corrections, contrasts } = await groundText('hypertensoin or hypotension', createFakeGrounder());
    expect(corrections).toMatchObject([{ from: 'hypertensoin', to: 'hypertension' }]);
    expect(contrasts).toHaveLength(1);
  });

  it('says when it finds nothing', async () => {
    const lines: string[] = [];
    await runGround('good morning', {
      json: false,
      print: (line) => lines.push(line),
      grounder: createFakeGrounder(),
    });
    expect(lines).toEqual(['No known term.']);
  });
});
