/** `company create`: a company with an owner and a key, in the database of the running installation. */
import { readRun } from "@sitewright/supervisor/records.ts";
import { createCompany, type NewCompany, UnusableCompany } from "../app/company/companies.ts";
import type { Config } from "../settings/config.ts";
import { hasCompany } from "../store/company/companies.ts";
import type { Database } from "../store/database.ts";
import { openDatabase } from "../store/open.ts";
import { Failure, failed } from "./failure.ts";

export async function makeCompany(config: Config, name: string): Promise<NewCompany> {
  const opened = openDatabase(databaseOf(config), { connections: 1 });
  try {
    await checkReachable(opened.database, config);
    return await createCompany(opened.database, { name });
  } catch (error) {
    if (error instanceof UnusableCompany) {
      throw new Failure(error.message, failed, { cause: error });
    }
    throw error;
  } finally {
    await opened.close();
  }
}

export function companyForPeople(
  { company_id, api_key, admin_email, admin_password }: NewCompany,
  name: string,
): string {
  return [
    `The company "${name}" is made. The key and the password are shown only now.`,
    `  Company   ${company_id}`,
    `  API key   ${api_key}`,
    `  Owner     ${admin_email}`,
    `  Password  ${admin_password}`,
  ].join("\n");
}

function databaseOf(config: Config): string {
  const url = config.databaseUrl ?? readRun(config.data)?.database_url;
  if (url === undefined) {
    throw new Failure(notRunning(config), failed);
  }
  return url;
}

function notRunning(config: Config): string {
  return (
    `Sitewright is not running on ${config.data}. Start it with: npm start\n` +
    "If its data is elsewhere, set SITEWRIGHT_DATA as at its start. Then repeat the command."
  );
}

/** The record of a supervisor that was killed may still lie there, and a new one may not be ready yet. */
async function checkReachable(database: Database, config: Config): Promise<void> {
  try {
    await hasCompany(database);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "42P01") {
      throw new Failure("Sitewright is still starting. Wait until it says that it is ready, then repeat.", failed, {
        cause,
      });
    }
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Failure(
      config.databaseUrl === null ? notRunning(config) : `The database at DATABASE_URL does not answer: ${why}`,
      failed,
      { cause },
    );
  }
}
