/** The database of a data folder, for a command that needs it whether or not the installation runs. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "@sitewright/server/settings/config.ts";
import { openDataFolder } from "../dataFolder.ts";
import { AlreadyRunning } from "../dataLock.ts";
import { openLog } from "../logFile.ts";
import { ownFolder } from "../ownFolder.ts";
import { readRun } from "../records.ts";
import { removeRunFolder } from "../runFolder.ts";
import { startPostgres } from "./postgres.ts";

export type Place = Pick<Config, "data" | "run" | "databaseUrl">;

export const clusterPath = (data: string): string => join(data, "postgres");

/**
 * Calls `work` with the address of the database: that of `DATABASE_URL`, or the embedded one's, which is started for that
 * time. The caller holds the lock of the data folder.
 */
export async function withStartedDatabase<T>(place: Place, work: (url: string) => Promise<T>): Promise<T> {
  if (place.databaseUrl !== null) return work(place.databaseUrl);
  ownFolder(place.run);
  const log = openLog(join(place.data, "logs", "postgres.log"));
  try {
    const server = await startPostgres({
      dataDirectory: clusterPath(place.data),
      runDirectory: place.run,
      log: log.write,
    });
    try {
      return await work(server.url);
    } finally {
      await server.stop();
    }
  } finally {
    log.close();
    removeRunFolder(place.run);
  }
}

/** The same also beside an installation that runs. Rejects with a sentence if it is just starting. */
export async function withDatabase<T>(place: Place, work: (url: string) => Promise<T>): Promise<T> {
  const lock = lockUnlessRunning(place.data);
  if (lock === null) return work(place.databaseUrl ?? runningDatabase(place.data));
  try {
    return await withStartedDatabase(place, work);
  } finally {
    lock.release();
  }
}

function lockUnlessRunning(data: string) {
  try {
    return openDataFolder(data);
  } catch (error) {
    if (error instanceof AlreadyRunning) return null;
    throw error;
  }
}

function runningDatabase(data: string): string {
  const url = readRun(data)?.database_url;
  if (url !== undefined) return url;
  throw new Error("Sitewright is still starting, or is just stopping. Wait a moment, then repeat the command.");
}

/** What shows that an installation lives in the data folder; null if none does. */
export function findInstallation(data: string): string | null {
  const names = ["postgres", "secrets", "environments", "installation.json", "first-run.json", "settings.env"];
  const found = names.find((name) => existsSync(join(data, name)));
  return found === undefined ? null : join(data, found);
}
