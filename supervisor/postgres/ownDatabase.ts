/** The database of a data folder, for commands that need it whether or not the installation is running. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "@sitewright/server/settings/config.ts";
import { openDataFolder } from "../dataFolder.ts";
import { AlreadyRunning } from "../dataLock.ts";
import { openLog } from "../logFile.ts";
import { ensureOwnedFolder } from "../ownedFolder.ts";
import { readRun } from "../records.ts";
import { removeRunFolder } from "../runFolder.ts";
import { startPostgres } from "./postgres.ts";

type DatabaseLocation = Pick<Config, "data" | "run" | "databaseUrl">;

export const clusterPath = (data: string): string => join(data, "postgres");

/**
 * Calls `work` with the URL of the database: `DATABASE_URL`, or the embedded one, which runs until `work` is done. The
 * caller must hold the lock of the data folder.
 */
export async function withStartedDatabase<T>(
  location: DatabaseLocation,
  work: (url: string) => Promise<T>,
): Promise<T> {
  if (location.databaseUrl !== null) return work(location.databaseUrl);
  ensureOwnedFolder(location.run);
  const log = openLog(join(location.data, "logs", "postgres.log"));
  try {
    const server = await startPostgres({
      dataDirectory: clusterPath(location.data),
      runDirectory: location.run,
      log: log.write,
    });
    try {
      return await work(server.url);
    } finally {
      await server.stop();
    }
  } finally {
    log.close();
    removeRunFolder(location.run);
  }
}

/**
 * Like `withStartedDatabase`, but uses the database of a running installation if there is one. Rejects with a
 * user-facing error while the installation starts or stops.
 */
export async function withDatabase<T>(location: DatabaseLocation, work: (url: string) => Promise<T>): Promise<T> {
  const lock = lockUnlessRunning(location.data);
  if (lock === null) return work(location.databaseUrl ?? runningDatabase(location.data));
  try {
    return await withStartedDatabase(location, work);
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
  throw new Error("Sitewright is starting or stopping. Wait a moment, then repeat the command.");
}

/** Path of a file or folder that proves that the data folder holds an installation, or null if it holds none. */
export function findInstallationFile(data: string): string | null {
  const names = ["postgres", "secrets", "environments", "installation.json", "first-run.json", "settings.env"];
  const found = names.find((name) => existsSync(join(data, name)));
  return found === undefined ? null : join(data, found);
}
