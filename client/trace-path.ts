/** Most points of a drawn question; a longer one is thinned by taking the loudest of each stretch. */
export const MAX_POINTS = 150;

/** Below this loudness the end of a question is silence that was only waited for. */
const QUIET = 0.3;

/** A question without the silence after it. */
export function trimEnd(levels: readonly number[]): readonly number[] {
  return levels.slice(0, levels.findLastIndex((level) => level > QUIET) + 1);
}

/** The loudest of each stretch, so that a long question is drawn with at most `points` strokes. */
export function thin(levels: readonly number[], points = MAX_POINTS): number[] {
  if (levels.length <= points) return [...levels];
  return Array.from({ length: points }, (_, index) => {
    const from = Math.floor((index * levels.length) / points);
    const to = Math.floor(((index + 1) * levels.length) / points);
    return Math.max(...levels.slice(from, to));
  });
}

/**
 * Loudness as a heart-sound recorder would write it: a line that swings above and below the middle, as far as it was loud.
 * SVG path data in a box of `width` × `height`; a silent or empty question is a straight line.
 */
export function tracePath(levels: readonly number[], width: number, height: number): string {
  const middle = height / 2;
  const step = width / Math.max(1, levels.length + 1);
  const points = levels.map((level, index) => {
    const swing = (index % 2 === 0 ? -1 : 1) * level * level * (middle - 1);
    return `L${((index + 1) * step).toFixed(1)} ${(middle + swing).toFixed(1)}`;
  });
  return [`M0 ${middle.toFixed(1)}`, ...points, `L${width.toFixed(1)} ${middle.toFixed(1)}`].join('');
}
