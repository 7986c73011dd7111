/** One line of a panel; `null` where a point was not measured. */
export interface Series {
  readonly name: string;
  readonly values: ReadonlyArray<number | null>;
}

/** Lines over named points; the vertical axis runs from 0 to `top`. */
export interface Panel {
  readonly title: string;
  readonly points: readonly string[];
  readonly series: readonly Series[];
}

const WIDTH = 560;
const HEIGHT = 300;
const MARGIN = { left: 52, right: 130, top: 36, bottom: 44 } as const;
/** Distinguishable for colour-blind readers (Okabe & Ito 2008). */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000'];
/** Lines differ in their dashes too, so that colour is never the only sign. */
const DASHES = ['', '6 3', '2 3', '8 3 2 3', '1 4', '10 4', '4 2'];

/** Panels below each other as one SVG picture. Values lie between 0 and `top`; what lies above is drawn at the top. */
export function plotPanels(panels: readonly Panel[], yLabel: string, top = 1): string {
  const height = HEIGHT * Math.max(1, panels.length);
  const drawn = panels.map((panel, at) => drawPanel(panel, { offset: at * HEIGHT, yLabel, top }));
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" ` +
    `font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="#fff"/>${drawn.join('')}</svg>\n`
  );
}

interface Frame {
  readonly offset: number;
  readonly yLabel: string;
  readonly top: number;
}

function drawPanel(panel: Panel, frame: Frame): string {
  const inner = WIDTH - MARGIN.left - MARGIN.right;
  const x = (at: number): number =>
    MARGIN.left + (panel.points.length < 2 ? inner / 2 : (inner * at) / (panel.points.length - 1));
  const y = (value: number): number =>
    HEIGHT -
    MARGIN.bottom -
    (HEIGHT - MARGIN.top - MARGIN.bottom) * Math.min(1, Math.max(0, value / frame.top));
  const axis = [0, 0.2, 0.4, 0.6, 0.8, 1].map((share) => {
    const value = share * frame.top;
    return (
      `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${y(value)}" y2="${y(value)}" stroke="#ddd"/>` +
      `<text x="${MARGIN.left - 6}" y="${y(value) + 4}" text-anchor="end">${value.toFixed(1)}</text>`
    );
  });
  const names = panel.points.map(
    (point, at) =>
      `<text x="${x(at).toFixed(1)}" y="${HEIGHT - MARGIN.bottom + 16}" text-anchor="middle">${escape(point)}</text>`,
  );
  const lines = panel.series.map((series, at) => drawSeries(series, { at, x, y }));
  const title = `<text x="${MARGIN.left}" y="20" font-size="13" font-weight="bold">${escape(panel.title)}</text>`;
  const label = `<text transform="translate(14 ${HEIGHT / 2}) rotate(-90)" text-anchor="middle">${escape(frame.yLabel)}</text>`;
  return `<g transform="translate(0 ${frame.offset})">${title}${label}${[...axis, ...names, ...lines].join('')}</g>`;
}

function drawSeries(
  series: Series,
  place: { readonly at: number; readonly x: (at: number) => number; readonly y: (value: number) => number },
): string {
  const colour = COLOURS[place.at % COLOURS.length] ?? '#000';
  const dash = DASHES[place.at % DASHES.length] ?? '';
  const points = series.values.flatMap((value, at) =>
    value === null || !Number.isFinite(value) ? [] : [[place.x(at), place.y(value)] as const],
  );
  const path = points.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join(' ');
  const dots = points.map(
    ([px, py]) => `<circle cx="${px.toFixed(1)}" cy="${py.toFixed(1)}" r="3" fill="${colour}"/>`,
  );
  const keyY = MARGIN.top + 8 + place.at * 16;
  const keyX = WIDTH - MARGIN.right + 10;
  return (
    `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="1.8" stroke-dasharray="${dash}"/>${dots.join('')}` +
    `<line x1="${keyX}" x2="${keyX + 22}" y1="${keyY}" y2="${keyY}" stroke="${colour}" stroke-width="1.8" stroke-dasharray="${dash}"/>` +
    `<text x="${keyX + 28}" y="${keyY + 4}">${escape(series.name)}</text>`
  );
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
