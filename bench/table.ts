/** Cells as aligned text: the first column to the left, what looks like a number to the right. */
export function formatTable(header: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const lines = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const isNumber = header.map((_, column) => rows.every((row) => /^[-–\d[(]/.test(row[column] ?? '–')));
  return lines
    .map((line) =>
      line
        .map((cell, column) =>
          isNumber[column] && column > 0
            ? cell.padStart(widths[column] ?? 0)
            : cell.padEnd(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** A figure with so many places; `–` for what was not measured. */
export function figure(value: number | null | undefined, places = 3): string {
  return value === null || value === undefined || !Number.isFinite(value) ? '–' : value.toFixed(places);
}

/** An interval as `[low, high]`. */
export function range(interval: readonly [number, number] | null, places = 3): string {
  return interval === null ? '–' : `[${figure(interval[0], places)}, ${figure(interval[1], places)}]`;
}
