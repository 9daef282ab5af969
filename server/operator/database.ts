/** The database of the running installation, for commands that need it. */
import { readRun } from "@sitewright/supervisor/records.ts";
import type { Config } from "../settings/config.ts";
import { hasCompany } from "../store/company/companies.ts";
import type { Database } from "../store/database.ts";
import { openDatabase } from "../store/open.ts";
import { exitFailed, Failure } from "./failure.ts";

/** Rejects with `Failure` if the installation is not running. */
export async function withRunningDatabase<T>(config: Config, work: (database: Database) => Promise<T>): Promise<T> {
  const opened = openDatabase(databaseOf(config), { connections: 1 });
  try {
    await checkReachable(opened.database, config);
    return await work(opened.database);
  } finally {
    await opened.close();
  }
}

function databaseOf(config: Config): string {
  const url = config.databaseUrl ?? readRun(config.data)?.database_url;
  if (url === undefined) throw new Failure(notRunning(config), exitFailed);
  return url;
}

export function notRunning({ data }: Pick<Config, "data">): string {
  return (
    `Sitewright is not running on ${data}. Start it with: npm start\n` +
    "If its data is in another folder, set SITEWRIGHT_DATA to that folder, and repeat the command."
  );
}

/** Rejects with `Failure` if the database does not answer, or is not ready yet. A killed supervisor leaves its record behind. */
async function checkReachable(database: Database, config: Config): Promise<void> {
  try {
    await hasCompany(database);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "42P01") {
      const message = "Sitewright is still starting. Repeat the command when it is ready.";
      throw new Failure(message, exitFailed, { cause });
    }
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message =
      config.databaseUrl === null ? notRunning(config) : `The database at DATABASE_URL does not answer: ${reason}`;
    throw new Failure(message, exitFailed, { cause });
  }
}
