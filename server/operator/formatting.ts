/** Formats sizes, durations and tables for the operator's commands. */
import type { Counts } from "../moving/format.ts";
import type { EnvironmentBackup } from "../store/restoredInstallation.ts";

const megabyte = 1e6;
const gigabyte = 1e9;

/** `42 kB`, `3.1 MB`, `20 GB`. */
export function sizeOf(bytes: number): string {
  if (bytes < megabyte) return `${Math.ceil(bytes / 1_000)} kB`;
  if (bytes >= gigabyte) return `${(bytes / gigabyte).toFixed(bytes < 10 * gigabyte ? 1 : 0)} GB`;
  return `${(bytes / megabyte).toFixed(bytes < 10 * megabyte ? 1 : 0)} MB`;
}

/** `1 site`, `3 sites`. */
export function plural(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`.replace(/(?<=[nr])ys$/, "ies")}`;
}

/** `2 companies, 3 sites, 5 environments`. */
export function contentOf(counts: Counts): string {
  const of = (table: string, noun: string) => plural(counts[table] ?? 0, noun);
  return `${of("companies", "company")}, ${of("sites", "site")}, ${of("environments", "environment")}`;
}

const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** `2 hours ago`. */
export function ago(time: Date, now = Date.now()): string {
  const age = now - time.getTime();
  const [unit, length] = units.find(([, milliseconds]) => age >= milliseconds) ?? ["minute", 60_000];
  return age < length ? "less than a minute ago" : `${plural(Math.floor(age / length), unit)} ago`;
}

/** `2 hours`, rounded up. */
export function durationOf(seconds: number): string {
  const [unit, length] = units.find(([, milliseconds]) => seconds * 1_000 >= milliseconds) ?? ["minute", 60_000];
  return plural(Math.max(1, Math.ceil((seconds * 1_000) / length)), unit);
}

/** Formats rows as a table with aligned columns; the first row is the header. */
export function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** One line for each environment: `Harbour / Live     2 hours ago`. */
export function environmentList<Listed extends EnvironmentBackup>(
  environments: readonly Listed[],
  describe: (one: Listed) => string,
): string[] {
  const names = environments.map(({ site, environment }) => `${site} / ${environment}`);
  const width = Math.max(0, ...names.map((name) => name.length));
  return environments.map((one, at) => `  ${(names[at] ?? "").padEnd(width)}  ${describe(one)}`);
}
