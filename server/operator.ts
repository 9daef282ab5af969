/**
 * `npm run --silent operator -- company create "<name>" [--json]`: what only the one who runs the installation may
 * do. It works on the database of the running installation, and standard output holds nothing but the result.
 *
 * Exit codes: 0 done, 1 it could not be done, 2 it was not understood.
 */
import { parseArgs } from "node:util";
import { readRun } from "@sitewright/supervisor/records.ts";
import { createCompany, type NewCompany, UnusableCompany } from "./app/companies.ts";
import { type Config, ConfigError, loadConfig } from "./config.ts";
import type { Database } from "./store/database.ts";
import { openDatabase } from "./store/open.ts";

const usage = `Usage: npm run --silent operator -- company create "<name>" [--json]

  company create "<name>"   makes a company with an owner and an API key, and prints them
  --json                    as {"company_id", "api_key", "admin_email", "admin_password"}
`;

const failed = 1;
const notUnderstood = 2;

/** What went wrong, in a sentence for the person. */
class Failure extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode: number, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

interface Command {
  readonly name: string;
  readonly json: boolean;
}

/** Null where help was asked for. */
function readCommand(given: readonly string[]): Command | null {
  try {
    const { values, positionals } = parseArgs({
      args: [...given],
      options: { json: { type: "boolean", default: false }, help: { type: "boolean", short: "h", default: false } },
      allowPositionals: true,
    });
    if (values.help) {
      return null;
    }
    const [noun, verb, name, ...more] = positionals;
    if (noun === "company" && verb === "create" && name !== undefined && more.length === 0) {
      return { name, json: values.json };
    }
  } catch (cause) {
    throw new Failure(`${cause instanceof Error ? cause.message : cause}\n\n${usage}`, notUnderstood, { cause });
  }
  throw new Failure(`That was not understood: ${given.join(" ") || "nothing"}.\n\n${usage}`, notUnderstood);
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

async function makeCompany(config: Config, name: string): Promise<NewCompany> {
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

/** The record of a supervisor that was killed may still lie there, and a new one may not be ready yet. */
async function checkReachable(database: Database, config: Config): Promise<void> {
  try {
    await database.selectFrom("companies").select("id").limit(1).execute();
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

function forPeople({ company_id, api_key, admin_email, admin_password }: NewCompany, name: string): string {
  return [
    `The company "${name}" is made. The key and the password are shown only now.`,
    `  Company   ${company_id}`,
    `  API key   ${api_key}`,
    `  Owner     ${admin_email}`,
    `  Password  ${admin_password}`,
  ].join("\n");
}

async function main(given: readonly string[]): Promise<string> {
  const command = readCommand(given);
  if (command === null) {
    return usage;
  }
  const company = await makeCompany(loadConfig(process.env), command.name);
  return command.json ? JSON.stringify(company) : forPeople(company, command.name);
}

try {
  process.stdout.write(`${await main(process.argv.slice(2))}\n`);
} catch (error) {
  if (!(error instanceof Failure || error instanceof ConfigError)) {
    throw error;
  }
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error instanceof Failure ? error.exitCode : notUnderstood;
}
