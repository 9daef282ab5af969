/** A snapshot of a site as it runs elsewhere: all of WordPress with MySQL, and nothing that only this installation has. */
import { chmod, lstat, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { buildAtomically, exists, removeTree } from "../../../folders.ts";
import { partOf, type Release, releaseIn } from "../../../releases.ts";
import { RuntimeFailure, type SiteExport, type SnapshotFolder } from "../../../runtime.ts";
import { sharedFolders } from "../../php/site.ts";
import { linkLive } from "../copy/copy.ts";
import { sharedCodeOf } from "../core.ts";
import { dumpDatabase } from "../database/databases.ts";
import { mainDatabase, type ReleaseFacts, recordOf, reportFullDisk } from "../release.ts";
import { exportConfig } from "./exportConfig.ts";

/** What makes a WordPress one on SQLite; each template has it (`templates/template.ts`). */
const driver = { folder: "wp-content/mu-plugins/sqlite-database-integration", dropIn: "wp-content/db.php" };
const driverMark = "sqlite-database-integration";
const maxDropInBytes = 1_000_000;

/** Drop-ins of others stay. */
async function removeDriver(webRoot: string): Promise<void> {
  await removeTree(path.join(webRoot, driver.folder));
  const dropIn = path.join(webRoot, driver.dropIn);
  const facts = await lstat(dropIn).catch(() => null);
  if (!facts?.isFile() || facts.size > maxDropInBytes) return;
  if ((await readFile(dropIn, "latin1")).includes(driverMark)) await rm(dropIn);
}

async function addSharedCode(webRoot: string, core: string): Promise<void> {
  for (const name of sharedFolders) {
    // An environment has an empty folder there, which PHP can't see.
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

/** A program without WordPress may do without a database; without a table there is nothing to import. */
async function writeSql(
  facts: ReleaseFacts,
  databases: string,
  sql: string,
): Promise<Pick<SiteExport, "tables" | "notes">> {
  const file = path.join(databases, mainDatabase(facts));
  if (!(await exists(file))) {
    if (facts.wordpressVersion === null) return { tables: 0, notes: [] };
    throw new RuntimeFailure("The site has no database, so that it can't run elsewhere either.");
  }
  const dumped = await dumpDatabase({ file, sql });
  if (dumped.tables === 0) await rm(sql);
  return dumped;
}

/** Whole or not at all; a folder that is there already is not looked at. `assets` is the folder of what all environments share. */
export async function exportSite(
  { folder: source }: SnapshotFolder,
  folder: string,
  assets: string,
): Promise<SiteExport> {
  const release = await releaseIn(source);
  const facts = recordOf(release);
  const [files, databases] = await Promise.all([partOf(release, "public"), partOf(release, "database")]);
  let dumped: Pick<SiteExport, "tables" | "notes"> = { tables: 0, notes: [] };
  const build = async (place: string) => {
    await chmod(place, 0o700);
    const webRoot = path.join(place, "public");
    await linkLive(files, webRoot);
    await layOutWordPress(webRoot, release, assets);
    // A site without WordPress may keep using SQLite.
    if (facts.wordpressVersion === null) await linkLive(databases, path.join(place, "database"));
    dumped = await writeSql(facts, databases, path.join(place, "database.sql"));
  };
  await reportFullDisk(() => buildAtomically(folder, `${folder}.new`, build));
  return { ...dumped, wordpressVersion: facts.wordpressVersion, multisite: facts.multisite };
}
