export interface CsvRow {
  /** Line on which the row begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** Comma-separated values as RFC 4180 has them: quoted cells may hold commas, line breaks and doubled quotes. */
export function parseCsv(source: string): CsvRow[] {
  const rows: CsvRow[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|$)/y;
  const text = source.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  let cells: string[] = [];
  let [line, startLine] = [1, 1];
  while (cell.lastIndex < text.length || cells.length > 0) {
    const from = cell.lastIndex;
    const match = cell.exec(text);
    if (!match) {
      // A stray quote: the rest of the line is taken as it stands.
      const end = text.indexOf('\n', from);
      cells.push(text.slice(from, end < 0 ? text.length : end));
      cell.lastIndex = end < 0 ? text.length : end + 1;
    } else {
      cells.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    }
    const consumed = text.slice(from, cell.lastIndex);
    line += consumed.split('\n').length - 1;
    if (match?.[3] === ',') continue;
    if (cells.some((one) => one !== '')) rows.push({ line: startLine, cells });
    cells = [];
    startLine = line;
  }
  return rows;
}
