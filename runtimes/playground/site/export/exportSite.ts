/**
 * Exports a snapshot to run elsewhere: with all of WordPress, for MySQL, and without anything specific to this
 * installation.
 */
import { chmod, lstat, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { buildAtomically, exists, removeTree } from "../../../folders.ts";
import { partOf, type Release, releaseIn } from "../../../releases.ts";
import { RuntimeFailure, type SiteExport, type SnapshotFolder } from "../../../runtime.ts";
import { driverPlace, sharedFolders } from "../../php/site.ts";
import { linkLive } from "../copy/copy.ts";
import { sharedCodeOf } from "../core.ts";
import { dumpDatabase } from "../database/databases.ts";
import { mainDatabase, type ReleaseFacts, recordOf, reportFullDisk } from "../release.ts";
import { exportConfig } from "./exportConfig.ts";

/** The drop-in that each template contains (`templates/template.ts`). */
const dropInFile = "wp-content/db.php";
const driverMark = "sqlite-database-integration";
const maxDropInBytes = 1_000_000;

/** Removes the SQLite driver, or the empty folder in its place, and its drop-in. Other drop-ins stay. */
async function removeDriver(webRoot: string): Promise<void> {
  await removeTree(path.join(webRoot, driverPlace));
  const dropIn = path.join(webRoot, dropInFile);
  const facts = await lstat(dropIn).catch(() => null);
  if (!facts?.isFile() || facts.size > maxDropInBytes) return;
  if ((await readFile(dropIn, "latin1")).includes(driverMark)) await rm(dropIn);
}

async function addSharedCode(webRoot: string, core: string): Promise<void> {
  for (const name of sharedFolders) {
    // Environments have an empty folder there, which PHP doesn't see.
    await removeTree(path.join(webRoot, name));
    await linkLive(path.join(core, name), path.join(webRoot, name));
  }
}

async function layOutWordPress(webRoot: string, release: Release, assets: string): Promise<void> {
  const core = await sharedCodeOf(assets, release);
  if (core === null) return;
  await addSharedCode(webRoot, core.folder);
  await removeDriver(webRoot);
  await exportConfig(webRoot);
}

/** Dumps the database. Without WordPress there may be no database; without tables no file is written. */
async function writeSql(
  of: SnapshotFolder,
  facts: ReleaseFacts,
  databases: string,
  sql: string,
): Promise<Pick<SiteExport, "tables" | "notes">> {
  const file = path.join(databases, mainDatabase(facts));
  if (!(await exists(file))) {
    if (facts.wordpressVersion === null) return { tables: 0, notes: [] };
    throw new RuntimeFailure("The site has no database, so it can't be exported.");
  }
  const dumped = await dumpDatabase({ of, file, sql });
  if (dumped.tables === 0) await rm(sql);
  return dumped;
}

/**
 * Implements `Runtime.exportSite`: creates the folder atomically, unless it exists. `assets` is the folder of shared
 * files.
 */
export async function exportSite(
  { folder: source }: SnapshotFolder,
  folder: string,
  assets: string,
): Promise<SiteExport> {
  const release = await releaseIn(source);
  const facts = recordOf(release);
  const [files, databases] = await Promise.all([partOf(release, "public"), partOf(release, "database")]);
  let dumped: Pick<SiteExport, "tables" | "notes"> = { tables: 0, notes: [] };
  const build = async (target: string) => {
    await chmod(target, 0o700);
    const webRoot = path.join(target, "public");
    await linkLive(files, webRoot);
    await layOutWordPress(webRoot, release, assets);
    // A site without WordPress may keep using SQLite.
    if (facts.wordpressVersion === null) await linkLive(databases, path.join(target, "database"));
    dumped = await writeSql({ folder: source }, facts, databases, path.join(target, "database.sql"));
  };
  await reportFullDisk(() => buildAtomically(folder, `${folder}.new`, build));
  return { ...dumped, wordpressVersion: facts.wordpressVersion, multisite: facts.multisite };
}
