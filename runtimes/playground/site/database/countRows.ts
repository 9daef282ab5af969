/** Counts the rows of an environment's tables, or a snapshot's. */
import { randomUUID } from "node:crypto";
import { environmentFolders, removeTree } from "../../../folders.ts";
import { scratchFolder } from "../../../releaseMoves.ts";
import { partOf, type Release } from "../../../releases.ts";
import type { EnvironmentRef, RowCounts, SnapshotFolder } from "../../../runtime.ts";
import { mainDatabase, recordOf, reportFullDisk, sourceRelease } from "../release.ts";
import { countRowsOf } from "./databases.ts";

/**
 * Implements `Runtime.countRows`. A snapshot is read in place. An environment may be written to, so a copy of its
 * databases is read.
 */
export async function countRows(
  source: EnvironmentRef | SnapshotFolder,
  environments: string,
  signal: AbortSignal,
): Promise<RowCounts> {
  const release = await sourceRelease(source, environments);
  if ("folder" in source) return count(source, release, null, signal);
  const scratch = scratchFolder(environmentFolders(environments, source).live, randomUUID());
  try {
    return await reportFullDisk(() => count(source, release, scratch, signal));
  } finally {
    await removeTree(scratch);
  }
}

async function count(
  of: EnvironmentRef | SnapshotFolder,
  release: Release,
  scratch: string | null,
  signal: AbortSignal,
): Promise<RowCounts> {
  const folder = await partOf(release, "database");
  return countRowsOf({ of, folder, main: mainDatabase(recordOf(release)), scratch }, signal);
}
