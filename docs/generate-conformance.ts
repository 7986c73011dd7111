/** A case and the tests that stand for it; the shape of test/fixtures/voice-cases.ts. */
interface Row {
  readonly group: string;
  readonly what: string;
  readonly tests: ReadonlyArray<{ readonly file: string; readonly title: string }>;
  readonly missing?: string;
}

export type Coverage = 'covered' | 'partly' | 'not covered';

export function coverageOf({ tests, missing }: Row): Coverage {
  if (tests.length === 0) return 'not covered';
  return missing === undefined ? 'covered' : 'partly';
}

/** The page that says which test stands for which known failure of voice systems. */
export function conformancePage(rows: readonly Row[]): string {
  const groups = [...new Set(rows.map(({ group }) => group))];
  const count = (coverage: Coverage): number => rows.filter((row) => coverageOf(row) === coverage).length;
  return [
    '# Conformance',
    '',
    'Failures that users of voice systems report, and the tests that stand against each. Made from `test/fixtures/voice-cases.ts` by `test/conformance.test.ts`, which fails when a test named here does not exist or this page is out of date; `npx vitest run test/conformance.test.ts -u` writes it anew. Whether the tests pass is what `npm test` says.',
    '',
    `Of ${rows.length} cases ${count('covered')} are covered, ${count('partly')} partly, ${count('not covered')} not.`,
    ...groups.flatMap((group) => [
      '',
      `## ${group}`,
      '',
      ...table(rows.filter((row) => row.group === group)),
    ]),
    '',
  ].join('\n');
}

function table(rows: readonly Row[]): string[] {
  return [
    '| case | covered | tests below test/ |',
    '| --- | --- | --- |',
    ...rows.map((row) => `| ${row.what} | ${coverageCell(row)} | ${testsCell(row)} |`),
  ];
}

function coverageCell(row: Row): string {
  const coverage = coverageOf(row);
  return row.missing === undefined ? coverage : `${coverage}: ${row.missing}`;
}

function testsCell({ tests }: Row): string {
  if (tests.length === 0) return '–';
  return tests.map(({ file, title }) => `\`${file}\` ${title.replaceAll('|', '\\|')}`).join('<br>');
}
