/** The database of the running installation, for commands that need it. */
import { readRun } from "@sitewright/supervisor/records.ts";
import type { Config } from "../settings/config.ts";
import { hasCompany } from "../store/company/companies.ts";
import type { Database } from "../store/database.ts";
import { openDatabase } from "../store/open.ts";
import { Failure, failed } from "./failure.ts";

/** Rejects with `Failure` if the installation does not run. */
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
  if (url === undefined) throw new Failure(notRunning(config), failed);
  return url;
}

export function notRunning({ data }: Pick<Config, "data">): string {
  return (
    `Sitewright is not running on ${data}. Start it with: npm start\n` +
    "If its data is elsewhere, set SITEWRIGHT_DATA as at its start. Then repeat the command."
  );
}

/** A killed supervisor may have left its record, and a new one may not be ready yet. */
async function checkReachable(database: Database, config: Config): Promise<void> {
  try {
    await hasCompany(database);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "42P01") {
      const message = "Sitewright is still starting. Wait until it says that it is ready, then repeat.";
      throw new Failure(message, failed, { cause });
    }
    const why = cause instanceof Error ? cause.message : String(cause);
    const message =
      config.databaseUrl === null ? notRunning(config) : `The database at DATABASE_URL does not answer: ${why}`;
    throw new Failure(message, failed, { cause });
  }
}
