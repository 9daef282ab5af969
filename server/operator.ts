/**
 * `npm run --silent operator -- <command>`: what only the one who runs the installation may do. Standard output holds
 * nothing but the result.
 *
 * Exit codes: 0 done, 1 it could not be done, 2 it was not understood.
 */
import { parseArgs } from "node:util";
import { explainStart } from "@sitewright/supervisor/dataFolder.ts";
import { UnusableFile } from "./moving/envelope.ts";
import { backup } from "./operator/backup.ts";
import { companyForPeople, makeCompany } from "./operator/company.ts";
import { Failure, failed, notUnderstood } from "./operator/failure.ts";
import { mirror } from "./operator/mirror.ts";
import { restore } from "./operator/restore.ts";
import { ConfigError, loadConfig } from "./settings/config.ts";
import { withSettingsFile } from "./settings/settingsFile.ts";

const usage = `Usage: npm run --silent operator -- company create "<name>" [--json]
       npm run --silent operator -- backup <file> [--force] [--with-backups]
       npm run --silent operator -- restore <file>
       npm run --silent operator -- mirror <folder> [--listen 127.0.0.1:8090]

  company create "<name>"   makes a company with an owner and an API key, and prints them
  --json                    as {"company_id", "api_key", "admin_email", "admin_password"}

  backup <file>             writes database, keys and settings of the installation into one encrypted file
  --force                   replaces the file where it is there
  --with-backups            makes a fresh backup of every environment first, while the installation runs
  restore <file>            makes the installation of such a file anew, in a data folder that has none

  mirror <folder>           serves the plugins, themes and versions of WordPress that lie in the folder as zips, in the
                            place of WordPress.org, until it is ended
  --listen                  where: an address and a port

The passphrase of the file is asked for, or taken from SITEWRIGHT_BACKUP_PASSPHRASE.
`;

interface Flags {
  readonly json: boolean;
  readonly force: boolean;
  readonly "with-backups": boolean;
  /** Null: where it usually does. */
  readonly listen: string | null;
}

type Command = () => Promise<string>;

/** Null where help was asked for. */
function readCommand(given: readonly string[]): Command | null {
  try {
    const { values, positionals } = parseArgs({
      args: [...given],
      options: {
        json: { type: "boolean", default: false },
        force: { type: "boolean", default: false },
        "with-backups": { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
        listen: { type: "string" },
      },
      allowPositionals: true,
    });
    if (values.help) return null;
    const command = commandOf(positionals, { ...values, listen: values.listen ?? null });
    if (command !== null) return command;
  } catch (cause) {
    throw new Failure(`${cause instanceof Error ? cause.message : cause}\n\n${usage}`, notUnderstood, { cause });
  }
  throw new Failure(`That was not understood: ${given.join(" ") || "nothing"}.\n\n${usage}`, notUnderstood);
}

/** Null where there is none of that form. */
function commandOf(words: readonly string[], flags: Flags): Command | null {
  const [verb, name = "", ...more] = words;
  const [company] = more;
  const { json, force: isForced, "with-backups": isFresh, listen } = flags;
  if (verb === "mirror" && name !== "" && more.length === 0 && !json && !isForced && !isFresh) {
    return () => mirror(name, listen, (line) => process.stdout.write(`${line}\n`));
  }
  if (listen !== null) return null;
  if (verb === "backup" && name !== "" && more.length === 0 && !json) {
    return async () => backup({ file: name, isForced, isFresh }, surroundings());
  }
  if (isForced || isFresh) return null;
  if (verb === "restore" && name !== "" && more.length === 0 && !json) return async () => restore(name, surroundings());
  if (verb !== "company" || name !== "create" || company === undefined || more.length > 1) return null;
  return async () => {
    const made = await makeCompany(surroundings().config, company);
    return json ? JSON.stringify(made) : companyForPeople(made, company);
  };
}

function surroundings() {
  const env = withSettingsFile(process.env);
  return { config: loadConfig(env), env, typist: { input: process.stdin, output: process.stderr } };
}

async function main(given: readonly string[]): Promise<string> {
  const command = readCommand(given);
  return command === null ? usage : command();
}

/** A sentence for the person, whatever it was. */
function explain(error: unknown): string {
  const isSentence = error instanceof Failure || error instanceof ConfigError || error instanceof UnusableFile;
  if (isSentence) return error.message;
  const config = loadConfig(withSettingsFile(process.env));
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (config.databaseUrl !== null && /^(E[A-Z]+|28\w{3}|3D000)$/.test(code)) {
    const why = error instanceof Error && error.message !== "" ? error.message : code;
    return `The database at DATABASE_URL does not answer: ${why}`;
  }
  return explainStart(error, config);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof Failure) return error.exitCode;
  return error instanceof ConfigError ? notUnderstood : failed;
}

try {
  process.stdout.write(`${await main(process.argv.slice(2))}\n`);
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = exitCodeOf(error);
}
