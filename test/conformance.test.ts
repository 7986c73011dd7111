import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { conformancePage, coverageOf } from '../docs/generate-conformance.js';
import { VOICE_CASES } from './fixtures/voice-cases.js';

/** Whether a file has a test of that title that runs: `it('title'`, `it.each(…)('title'`, but not `it.skip('title'`. */
function hasTest(source: string, title: string): boolean {
  const literal = title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?:\\bit|\\))\\(\\s*(['"\`])${literal}\\1`).test(source);
}

/** After a change of the table, `npx vitest run test/conformance.test.ts -u` writes the page anew. */
describe('the conformance page', () => {
  it.each(VOICE_CASES.flatMap(({ tests }) => tests))(
    'names a test that exists: $file $title',
    ({ file, title }) => {
      expect(hasTest(readFileSync(join(import.meta.dirname, file), 'utf8'), title)).toBe(true);
    },
  );

  it('would notice a test that was renamed or is skipped', () => {
    expect(hasTest("it('hears (all) of it', () => {", 'hears (all) of it')).toBe(true);
    expect(hasTest("it.each([1])(\n  'hears %i',", 'hears %i')).toBe(true);
    expect(hasTest("it.skip('hears', () => {", 'hears')).toBe(false);
    expect(hasTest("it('hears more', () => {", 'hears')).toBe(false);
  });

  it('says why, wherever a case is not covered', () => {
    const silent = VOICE_CASES.filter(
      (row) => coverageOf(row) === 'not covered' && row.missing === undefined,
    );
    expect(silent).toEqual([]);
  });

  it('is up to date', async () => {
    await expect(conformancePage(VOICE_CASES)).toMatchFileSnapshot('../docs/conformance.md');
  });
});
