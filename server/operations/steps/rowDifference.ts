/** What a restored database has in another number than when it was backed up. */
import type { RowCounts } from "@sitewright/runtimes/runtime.ts";

function inWords(count: number | undefined): string {
  if (count === undefined) return "was not there";
  return count === 1 ? "had 1 row" : `had ${count} rows`;
}

/** A sentence about the first table by name; null if there is no difference. */
export function rowDifference(counted: RowCounts, restored: RowCounts): string | null {
  const tables = new Set([...Object.keys(counted), ...Object.keys(restored)]);
  const [first, ...others] = [...tables].toSorted().filter((table) => counted[table] !== restored[table]);
  if (first === undefined) return null;
  const more = others.length === 0 ? "" : ` Other tables that differ: ${others.length}.`;
  return `The table ${first} ${inWords(counted[first])} when it was backed up, and ${inWords(restored[first])} when it was restored.${more}`;
}
