/** Counts the rows of an environment's tables, or a snapshot's. */
import { environmentFolders } from "../folders.ts";
import type { EnvironmentRef, RowCounts, SnapshotFolder } from "../runtime.ts";
import type { SiteContext } from "./context.ts";
import { databaseOf, sourceRelease } from "./release.ts";
import { withScratch } from "./withScratch.ts";

/**
 * Implements `Runtime.countRows`. A snapshot is read in place. An environment may be written to, so a copy of its
 * databases is read.
 */
export async function countRows(
  source: EnvironmentRef | SnapshotFolder,
  { environments, database }: SiteContext,
  signal: AbortSignal,
): Promise<RowCounts> {
  const release = await sourceRelease(source, environments);
  const own = await databaseOf(source, release);
  if ("folder" in source) return database.countRows(own, null, signal);
  const { live } = environmentFolders(environments, source);
  return withScratch(live, (scratch) => database.countRows(own, scratch, signal));
}
