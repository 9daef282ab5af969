/** Draws line plots with logarithmic axes as SVG, readable on a light and on a dark page. */

export interface Line {
  readonly name: string;
  /** Both positive. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Plot {
  readonly title: string;
  readonly xLabel: string;
  /** Text of a value of the y axis: `10 ms`. */
  readonly yText: (value: number) => string;
  readonly lines: readonly Line[];
}

const size = { width: 720, height: 420 };
const area = { left: 80, right: 520, top: 50, bottom: 370 };
const labelHeight = 16;
/** Distinguishable for the colour-blind, on white and on black. */
const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#b5a400"];

const style = `
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .title { font-size: 16px; font-weight: 600 }
  .grid { stroke: #8886; stroke-width: 1 }
  .line { fill: none; stroke-width: 2 }
  @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }`;

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** The powers of ten from the largest below all values to the smallest above them. */
function decades(values: readonly number[]): readonly number[] {
  const first = Math.floor(Math.log10(Math.min(...values)));
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...values))));
  return Array.from({ length: last - first + 1 }, (_, at) => 10 ** (first + at));
}

/** Returns the position of a value on an axis from `start` to `end`. */
function scale(ticks: readonly number[], start: number, end: number): (value: number) => number {
  const [low, high] = [Math.log10(ticks[0] ?? 1), Math.log10(ticks.at(-1) ?? 10)];
  return (value) => start + ((Math.log10(value) - low) / (high - low)) * (end - start);
}

/** Moves labels apart. Returns their positions in the given order. */
function spread(positions: readonly number[]): readonly number[] {
  const order = positions.map((position, index) => ({ position, index })).toSorted((a, b) => a.position - b.position);
  const placed: number[] = [];
  let next = Number.NEGATIVE_INFINITY;
  for (const { position, index } of order) {
    next = Math.max(next + labelHeight, position);
    placed[index] = next;
  }
  return placed;
}

/** The plot as the text of an SVG file. The name of each line is written at its end. */
export function drawPlot({ title, xLabel, yText, lines }: Plot): string {
  const points = lines.flatMap((line) => line.points);
  const [xTicks, yTicks] = [decades(points.map(([x]) => x)), decades(points.map(([, y]) => y))];
  const [x, y] = [scale(xTicks, area.left, area.right), scale(yTicks, area.bottom, area.top)];
  const at = (value: number) => value.toFixed(1);
  const grid = [
    ...xTicks.map((tick) => `<path class="grid" d="M${at(x(tick))} ${area.top}V${area.bottom}"/>`),
    ...yTicks.map((tick) => `<path class="grid" d="M${area.left} ${at(y(tick))}H${area.right}"/>`),
  ];
  const texts = [
    `<text class="title" x="${area.left}" y="28">${escaped(title)}</text>`,
    ...xTicks.map(
      (tick) =>
        `<text x="${at(x(tick))}" y="${area.bottom + 20}" text-anchor="middle">${tick.toLocaleString("en")}</text>`,
    ),
    ...yTicks.map(
      (tick) => `<text x="${area.left - 8}" y="${at(y(tick) + 4)}" text-anchor="end">${escaped(yText(tick))}</text>`,
    ),
    `<text x="${(area.left + area.right) / 2}" y="${area.bottom + 42}" text-anchor="middle">${escaped(xLabel)}</text>`,
  ];
  const ends = spread(lines.map((line) => y(line.points.at(-1)?.[1] ?? 1)));
  const drawn = lines.map((line, index) => {
    const colour = colours[index % colours.length];
    const path = line.points.map(([px, py]) => `${at(x(px))} ${at(y(py))}`).join("L");
    const marks = line.points.map(([px, py]) => `<circle cx="${at(x(px))}" cy="${at(y(py))}" r="3" fill="${colour}"/>`);
    const last = line.points.at(-1)?.[1] ?? 0;
    const label = `<text x="${area.right + 10}" y="${at((ends[index] ?? 0) + 4)}">${escaped(`${line.name} ${yText(last)}`)}</text>`;
    return `<path class="line" stroke="${colour}" d="M${path}"/>${marks.join("")}
<path stroke="${colour}" stroke-width="4" d="M${area.right + 3} ${at(ends[index] ?? 0)}h5"/>${label}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" width="${size.width}" height="${size.height}" role="img">
<title>${escaped(title)}</title>
<style>${style}
</style>
${[...grid, ...texts, ...drawn].join("\n")}
</svg>
`;
}
