/** Whether the archives have what the environments of a restored installation would be made of. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { removeTree } from "@sitewright/runtimes/folders.ts";
import type { Pool } from "pg";
import { openArchives } from "../archives/archives.ts";
import type { Blobs } from "../archives/blobs.ts";
import { openBlobs } from "../archives/openBlobs.ts";
import { readKey } from "../sealing.ts";
import { nameOfPlace, parseArchiveUrl } from "../settings/archiveUrl.ts";
import type { Config } from "../settings/config.ts";
import { piecesFor } from "../store/backups/pieces.ts";
import { type EnvironmentBackup, listNewestBackups } from "../store/moved.ts";
import { databaseOn } from "../store/open.ts";

export interface Found {
  /** In words. */
  readonly place: string;
  /** Where it is one. */
  readonly folder: string | null;
  readonly environments: readonly (EnvironmentBackup & { readonly isWhole: boolean })[];
  /** Why it could not be checked. */
  readonly problem: string | null;
}

const patienceMilliseconds = 60_000;

/** Never rejects for what is wrong with the archives. */
export async function findWhole(pool: Pool, config: Config): Promise<Found> {
  const environments = await newestBackups(pool);
  const unknown = environments.map((environment) => ({ ...environment, isWhole: false }));
  try {
    const place = parseArchiveUrl(config.archiveUrl, config.archives);
    const folder = place.kind === "folder" ? place.folder : null;
    const facts = { place: nameOfPlace(place), folder };
    if (folder !== null && !existsSync(folder)) {
      return { ...facts, environments: unknown, problem: "it is not there yet." };
    }
    const checked = await checkAll(pool, config, await openBlobs(place), environments).catch((error: Error) => error);
    if (checked instanceof Error) return { ...facts, environments: unknown, problem: checked.message };
    return { ...facts, environments: checked, problem: null };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { place: "which SITEWRIGHT_ARCHIVE_URL names", folder: null, environments: unknown, problem };
  }
}

async function newestBackups(pool: Pool): Promise<EnvironmentBackup[]> {
  const client = await pool.connect();
  try {
    return await listNewestBackups(client);
  } finally {
    client.release();
  }
}

async function checkAll(pool: Pool, config: Config, blobs: Blobs, environments: readonly EnvironmentBackup[]) {
  const database = databaseOn(pool);
  const key = await readKey(join(config.data, "secrets", "archive-key"));
  if (key === null) throw new Error("The key of the archives did not come with the installation.");
  const archives = openArchives({
    blobs: listedOnce(blobs),
    key,
    indexOf: (backup) => piecesFor(database, backup),
    work: join(config.data, "work"),
    removeFolder: removeTree,
  });
  const signal = AbortSignal.timeout(patienceMilliseconds);
  const checked: (EnvironmentBackup & { readonly isWhole: boolean })[] = [];
  for (const environment of environments) {
    const { backupId: id, companyId } = environment;
    const isWhole = id !== null && (await archives.isWhole({ id, companyId }, signal));
    checked.push({ ...environment, isWhole });
  }
  return checked;
}

/** A company's environments share their packs: one list says it for all. */
function listedOnce(blobs: Blobs): Blobs {
  const lists = new Map<string, ReturnType<Blobs["list"]>>();
  return {
    ...blobs,
    list: (folder, signal) => {
      const list = lists.get(folder) ?? blobs.list(folder, signal);
      lists.set(folder, list);
      return list;
    },
  };
}
