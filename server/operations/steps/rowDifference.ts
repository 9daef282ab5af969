/** Compares the row counts of a restored database with those of the backup. */
import type { RowCounts } from "@sitewright/runtimes/runtime.ts";

function inWords(count: number | undefined): string {
  if (count === undefined) return "did not exist";
  return count === 1 ? "had 1 row" : `had ${count} rows`;
}

/** Returns a sentence about the first table that differs, in alphabetical order, or null if all counts are equal. */
export function rowDifference(counted: RowCounts, restored: RowCounts): string | null {
  const tables = new Set([...Object.keys(counted), ...Object.keys(restored)]);
  const [first, ...others] = [...tables].toSorted().filter((table) => counted[table] !== restored[table]);
  if (first === undefined) return null;
  const more = others.length === 0 ? "" : ` Other tables that differ: ${others.length}.`;
  return `The table ${first} ${inWords(counted[first])} when it was backed up, and ${inWords(restored[first])} when it was restored.${more}`;
}
