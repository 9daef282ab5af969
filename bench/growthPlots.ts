/** Plots of growth in `docs/growth`. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Passes, secondsPerHour } from "./growthPasses.ts";
import { drawPlot, type Line, type Plot } from "./plot.ts";

/** With so many sleeping environments. */
export interface Size extends Passes {
  readonly environments: number;
  /** Milliseconds. */
  readonly start: number;
  /** Processor time of the control process and of its child processes from its start until it was idle, in milliseconds. */
  readonly startWork: number;
  /** Bytes of each process; pages that several share are divided among them (PSS). */
  readonly control: number;
  readonly edge: number;
}

const folder = join(import.meta.dirname, "..", "docs", "growth");
const xLabel = "sleeping environments";
/** Lines of single reconcilers; the others are drawn together. */
const shownReconcilers = 6;
/** A logarithmic axis has no zero. */
const smallest = 1e-3;

function text(value: number, unit: string): string {
  const digits = value >= 100 ? 0 : Math.max(0, 1 - Math.floor(Math.log10(value)));
  return `${Number(value.toFixed(digits)).toLocaleString("en")} ${unit}`;
}

const lineOf = (sizes: readonly Size[], name: string, of: (size: Size) => number): Line => ({
  name,
  points: sizes.map((size) => [size.environments, Math.max(smallest, of(size))]),
});

function reconcilerLines(sizes: readonly Size[]): readonly Line[] {
  const largest = sizes.at(-1)?.passes ?? [];
  const order = largest.toSorted((one, other) => secondsPerHour(other) - secondsPerHour(one));
  const shown = order.slice(0, shownReconcilers).map(({ name }) => name);
  const sum = (size: Size, isIncluded: (name: string) => boolean) =>
    size.passes.filter(({ name }) => isIncluded(name)).reduce((total, cost) => total + secondsPerHour(cost), 0);
  return [
    lineOf(sizes, "all", (size) => sum(size, () => true)),
    ...shown.map((name) => lineOf(sizes, name, (size) => sum(size, (other) => other === name))),
    lineOf(sizes, "others", (size) => sum(size, (name) => !shown.includes(name))),
  ];
}

function plotsOf(sizes: readonly Size[]): Readonly<Record<string, Omit<Plot, "xLabel">>> {
  const milliseconds = (value: number) => text(value, "ms");
  return {
    start: {
      title: "npm start",
      yText: milliseconds,
      lines: [
        lineOf(sizes, "until it is ready", ({ start }) => start),
        lineOf(sizes, "work of control", ({ startWork }) => startWork),
      ],
    },
    memory: {
      title: "Memory of idle processes",
      yText: (value) => text(value, "MB"),
      lines: [
        lineOf(sizes, "together", ({ control, edge }) => (control + edge) / 1e6),
        lineOf(sizes, "control", ({ control }) => control / 1e6),
        lineOf(sizes, "edge", ({ edge }) => edge / 1e6),
      ],
    },
    publishing: {
      title: "Publishing the routing table once",
      yText: milliseconds,
      lines: [
        lineOf(sizes, "until the edge serves it", ({ publishing }) => publishing.milliseconds),
        lineOf(sizes, "control", ({ publishing }) => publishing.times.control),
        lineOf(sizes, "PostgreSQL", ({ publishing }) => publishing.times.database),
        lineOf(sizes, "edge", ({ publishing }) => publishing.times.edge),
      ],
    },
    reconcilers: {
      title: "Processor time of idle reconcilers per hour",
      yText: (value) => text(value, "s"),
      lines: reconcilerLines(sizes),
    },
    backups: {
      title: "Backup planning",
      yText: milliseconds,
      lines: [
        lineOf(sizes, "planning all", ({ planning }) => planning),
        lineOf(sizes, "choosing, all due", ({ choosing }) => choosing),
      ],
    },
  };
}

export async function drawGrowth(sizes: readonly Size[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, plot] of Object.entries(plotsOf(sizes))) {
    await writeFile(join(folder, `${name}.svg`), drawPlot({ ...plot, xLabel }));
  }
}
