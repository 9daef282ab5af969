/**
 * Exports a snapshot to run elsewhere: with all of WordPress, for MySQL, and without anything specific to this
 * installation.
 */
import { chmod } from "node:fs/promises";
import path from "node:path";
import { linkLive } from "../../copy.ts";
import { buildAtomically, removeTree } from "../../folders.ts";
import { partOf, type Release, releaseIn } from "../../releases.ts";
import type { SiteExport, SnapshotFolder } from "../../runtime.ts";
import type { SiteContext } from "../context.ts";
import { sharedCodeOf } from "../core.ts";
import { databaseOf, recordOf, reportFullDisk } from "../release.ts";
import { sharedFolders } from "../sharedCode.ts";
import { exportConfig } from "./exportConfig.ts";

async function addSharedCode(webRoot: string, core: string): Promise<void> {
  for (const name of sharedFolders) {
    // Environments have an empty folder there, which PHP doesn't see.
    await removeTree(path.join(webRoot, name));
    await linkLive(path.join(core, name), path.join(webRoot, name));
  }
}

async function layOutWordPress(webRoot: string, release: Release, { assets, database }: SiteContext): Promise<void> {
  const core = await sharedCodeOf(assets, release);
  if (core === null) return;
  await addSharedCode(webRoot, core.folder);
  await database.removeDropIn(webRoot);
  await exportConfig(webRoot);
}

/** Implements `Runtime.exportSite`: creates the folder atomically, unless it exists. */
export async function exportSite(source: SnapshotFolder, folder: string, context: SiteContext): Promise<SiteExport> {
  const release = await releaseIn(source.folder);
  const facts = recordOf(release);
  const [files, database] = await Promise.all([partOf(release, "public"), databaseOf(source, release)]);
  let dumped: Pick<SiteExport, "tables" | "notes"> = { tables: 0, notes: [] };
  const build = async (target: string) => {
    await chmod(target, 0o700);
    const webRoot = path.join(target, "public");
    await linkLive(files, webRoot);
    await layOutWordPress(webRoot, release, context);
    // A site without WordPress may keep using its database.
    if (facts.wordpressVersion === null) await linkLive(database.folder, path.join(target, "database"));
    dumped = await context.database.dump(database, path.join(target, "database.sql"));
  };
  await reportFullDisk(() => buildAtomically(folder, `${folder}.new`, build));
  const { wordpressVersion, multisite } = facts;
  return { ...dumped, databaseKind: context.database.kind, wordpressVersion, multisite };
}
