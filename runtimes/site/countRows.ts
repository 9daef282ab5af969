/** Counts the rows of an environment's tables, or a snapshot's. */
import { randomUUID } from "node:crypto";
import { environmentFolders, removeTree } from "../folders.ts";
import { scratchFolder } from "../releaseMoves.ts";
import type { EnvironmentRef, RowCounts, SnapshotFolder } from "../runtime.ts";
import type { SiteContext } from "./context.ts";
import { databaseOf, reportFullDisk, sourceRelease } from "./release.ts";

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
  const scratch = scratchFolder(environmentFolders(environments, source).live, randomUUID());
  try {
    return await reportFullDisk(() => database.countRows(own, scratch, signal));
  } finally {
    await removeTree(scratch);
  }
}
