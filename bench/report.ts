/** Figures (a measurement with its target and reference) and their table. */

export interface Figure {
  readonly name: string;
  readonly measured: string;
  readonly target: string;
  readonly isMet: boolean;
  /** A measurement of the same run for comparison, as text. */
  readonly reference?: string;
}

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(2)} s`;

/** Formats milliseconds as `ms` or `s`. */
export function duration(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms` : seconds(milliseconds);
}

/** A dash if the target is infinite. */
function limit(target: number, show: (value: number) => string): string {
  return Number.isFinite(target) ? `≤ ${show(target)}` : "–";
}

/** A figure that must not exceed its target, both in milliseconds. */
export function atMost(name: string, milliseconds: number, target: number, reference?: string): Figure {
  return {
    name,
    measured: duration(milliseconds),
    target: limit(target, duration),
    isMet: milliseconds <= target,
    ...(reference === undefined ? {} : { reference }),
  };
}

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(2)} MB`;

/** A figure that must not exceed its target, both in bytes. */
export function atMostBytes(name: string, bytes: number, target: number, reference: string): Figure {
  const isMet = bytes <= target;
  return { name, measured: megabytes(bytes), target: limit(target, megabytes), isMet, reference };
}

/** The figures as a text table. */
export function table(figures: readonly Figure[]): string {
  const rows = figures.map(({ name, measured, target, isMet, reference }) => [
    isMet ? "✓" : "✗",
    name,
    measured,
    target,
    reference ?? "",
  ]);
  const all = [["", "figure", "measured", "target", "reference in the same run"], ...rows];
  const widths = (all[0] ?? []).map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
