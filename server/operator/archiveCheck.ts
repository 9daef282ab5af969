/** Checks that the archives contain the backups from which a restored installation rebuilds its environments. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { removeTree } from "@sitewright/runtimes/folders.ts";
import type { Pool } from "pg";
import { openArchives } from "../archives/archives.ts";
import type { Blobs } from "../archives/blobs.ts";
import { openBlobs } from "../archives/openBlobs.ts";
import { readKeySource } from "../keyFile.ts";
import { archiveKeyFile } from "../sealedSettings.ts";
import { describeArchiveLocation, parseArchiveUrl } from "../settings/archiveUrl.ts";
import type { Config } from "../settings/config.ts";
import { piecesFor } from "../store/backups/pieces.ts";
import { databaseOn } from "../store/open.ts";
import { type EnvironmentBackup, listNewestBackups } from "../store/restoredInstallation.ts";

export interface ArchiveCheck {
  /** Location of the archives, in words. */
  readonly location: string;
  /** Their path if they are a folder, or null. */
  readonly folder: string | null;
  readonly environments: readonly (EnvironmentBackup & { readonly isIntact: boolean })[];
  /** Why they could not be checked, or null. */
  readonly problem: string | null;
}

const timeoutMilliseconds = 60_000;

/** Reports problems of the archives in the result; never rejects for them. */
export async function checkArchives(pool: Pool, config: Config): Promise<ArchiveCheck> {
  const environments = await newestBackups(pool);
  const unknown = environments.map((environment) => ({ ...environment, isIntact: false }));
  try {
    const place = parseArchiveUrl(config.archiveUrl, config.archives);
    const folder = place.kind === "folder" ? place.folder : null;
    const facts = { location: describeArchiveLocation(place), folder };
    if (folder !== null && !existsSync(folder)) {
      return { ...facts, environments: unknown, problem: "it does not exist yet." };
    }
    const checked = await checkAll(pool, config, await openBlobs(place), environments).catch((error: Error) => error);
    if (checked instanceof Error) return { ...facts, environments: unknown, problem: checked.message };
    return { ...facts, environments: checked, problem: null };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { location: "the location in SITEWRIGHT_ARCHIVE_URL", folder: null, environments: unknown, problem };
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
  const keys = readKeySource(archiveKeyFile(config.data));
  if (keys === null) throw new Error("The backup does not contain the archive key.");
  const archives = openArchives({
    blobs: listedOnce(blobs),
    keys,
    indexOf: (backup) => piecesFor(database, backup),
    work: join(config.data, "work"),
    removeFolder: removeTree,
  });
  const signal = AbortSignal.timeout(timeoutMilliseconds);
  const checked: (EnvironmentBackup & { readonly isIntact: boolean })[] = [];
  for (const environment of environments) {
    const { backupId: id, companyId } = environment;
    const isIntact = id !== null && (await archives.isIntact({ id, companyId }, signal));
    checked.push({ ...environment, isIntact });
  }
  return checked;
}

/** Lists each folder once: a company's environments share their packs. */
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
