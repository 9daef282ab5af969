/** What the commands about backups of the installation tell, in words. */
import type { Counts } from "../moving/format.ts";
import type { EnvironmentBackup } from "../store/moved.ts";

const megabyte = 1e6;
const gigabyte = 1e9;

/** `42 kB`, `3.1 MB`, `20 GB`. */
export function sizeOf(bytes: number): string {
  if (bytes < megabyte) return `${Math.ceil(bytes / 1_000)} kB`;
  if (bytes >= gigabyte) return `${(bytes / gigabyte).toFixed(bytes < 10 * gigabyte ? 1 : 0)} GB`;
  return `${(bytes / megabyte).toFixed(bytes < 10 * megabyte ? 1 : 0)} MB`;
}

/** `1 site`, `3 sites`. */
export function many(count: number, what: string): string {
  return `${count} ${count === 1 ? what : `${what}s`.replace(/nys$/, "nies")}`;
}

export function contentOf(counts: Counts): string {
  const of = (table: string, what: string) => many(counts[table] ?? 0, what);
  return `${of("companies", "company")}, ${of("sites", "site")}, ${of("environments", "environment")}`;
}

const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** `2 hours ago`. */
export function ago(moment: Date, now = Date.now()): string {
  const age = now - moment.getTime();
  const [unit, length] = units.find(([, milliseconds]) => age >= milliseconds) ?? ["minute", 60_000];
  return age < length ? "less than a minute ago" : `${many(Math.floor(age / length), unit)} ago`;
}

/** `2 hours`, rounded up: a length of time that is not exceeded. */
export function spanOf(seconds: number): string {
  const [unit, length] = units.find(([, milliseconds]) => seconds * 1_000 >= milliseconds) ?? ["minute", 60_000];
  return many(Math.max(1, Math.ceil((seconds * 1_000) / length)), unit);
}

/** Rows as columns of equal width; the first row is the head. */
export function columnsOf(rows: readonly (readonly string[])[]): string {
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

/** One line for each, `Harbour / Live     2 hours ago`. */
export function listOf<Listed extends EnvironmentBackup>(
  environments: readonly Listed[],
  say: (one: Listed) => string,
): string[] {
  const names = environments.map(({ site, environment }) => `${site} / ${environment}`);
  const width = Math.max(0, ...names.map((name) => name.length));
  return environments.map((one, at) => `  ${(names[at] ?? "").padEnd(width)}  ${say(one)}`);
}
