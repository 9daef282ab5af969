/** `backup <file>`: backs up the installation to one file, except the content of environments, which is in the archives. */
import { isAbsolute, resolve } from "node:path";
import { findInstallationFile, withDatabase } from "@sitewright/supervisor/postgres/ownDatabase.ts";
import { interruptedRestoreMessage, readLastStart } from "@sitewright/supervisor/records.ts";
import type { Pool } from "pg";
import { type BackupResult, backupInstallation, type HeaderFields } from "../moving/backupInstallation.ts";
import { readDataFolderFiles } from "../moving/dataFolderFiles.ts";
import { checkTarget } from "../moving/envelope.ts";
import { describeArchiveLocation, parseArchiveUrl } from "../settings/archiveUrl.ts";
import type { Config } from "../settings/config.ts";
import { movableSettings } from "../settings/settingsFile.ts";
import { recordOperatorAction } from "../store/company/activity.ts";
import { databaseOn, openPool } from "../store/open.ts";
import { operatorActor } from "./actor.ts";
import type { CommandContext, Run } from "./command.ts";
import { exitFailed, Failure } from "./failure.ts";
import { ago, contentOf, environmentList, sizeOf } from "./formatting.ts";
import { backUpAll } from "./freshBackups.ts";
import { choosePassphrase } from "./passphrase.ts";

const [notNullViolation, undefinedColumn] = ["23502", "42703"];

interface BackupOptions {
  readonly file: string;
  /** Whether an existing file is replaced. */
  readonly isForced: boolean;
  /** Whether each environment is backed up first. */
  readonly isFresh: boolean;
}

/** Resolves a path against the caller's directory: npm runs this program in the repository. */
export function absolutePath(file: string, env: NodeJS.ProcessEnv): string {
  return isAbsolute(file) ? file : resolve(env.INIT_CWD || process.cwd(), file);
}

export const runBackup: Run = ({ words: [file = ""], flags }, context) =>
  backup({ file, isForced: flags.force === true, isFresh: flags["with-backups"] === true }, context);

/** Returns the report for the operator. Rejects with `Failure` and `UnusableFile`. */
export async function backup({ file, isForced, isFresh }: BackupOptions, context: CommandContext): Promise<string> {
  const { config, env, terminal } = context;
  requireInstallation(config);
  const target = { file: absolutePath(file, env), isForced };
  await checkTarget(target);
  const fields = await headerFieldsOf(config, env);
  const passphrase = await choosePassphrase(env, terminal);
  return withDatabase(config, async (url) => {
    const pool = openPool(url, { connections: 1 });
    try {
      const print = (line: string) => void terminal.output.write(`${line}\n`);
      const problems = isFresh ? await backUpAll(pool, config.data, print) : [];
      await record(pool, env);
      const result = await backupInstallation(pool, () => headerFieldsOf(config, env), { ...target, passphrase });
      return [report(result, fields, { file: target.file, isFresh }), ...reportProblems(problems)].join("\n");
    } finally {
      await pool.end();
    }
  });
}

/** The database of an older version, before its first start with this one, can't record it. */
async function record(pool: Pool, env: NodeJS.ProcessEnv): Promise<void> {
  const entry = { type: "backUpInstallation", parameters: {}, actor: operatorActor(env) };
  try {
    await databaseOn(pool)
      .transaction()
      .execute((transaction) => recordOperatorAction(transaction, entry));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code !== notNullViolation && code !== undefinedColumn) throw error;
  }
}

function requireInstallation({ data }: Config): void {
  const interrupted = interruptedRestoreMessage(data);
  if (interrupted !== null) throw new Failure(interrupted, exitFailed);
  if (findInstallationFile(data) !== null) return;
  throw new Failure(
    `There is no installation in ${data}. If its data is elsewhere, set SITEWRIGHT_DATA to that folder, then try again.`,
    exitFailed,
  );
}

/** Uses the settings of the last startup, since this command may have been given others. */
async function headerFieldsOf({ data, archives }: Config, env: NodeJS.ProcessEnv): Promise<HeaderFields> {
  const settings = readLastStart(data) ?? movableSettings(env);
  const files = await readDataFolderFiles(data);
  if (!("secrets/archive-key" in files)) {
    throw new Failure(
      `The archive key, ${data}/secrets/archive-key, is missing. Start Sitewright with this folder first: it creates the key, or reports what is wrong.`,
      exitFailed,
    );
  }
  const place = parseArchiveUrl(settings.SITEWRIGHT_ARCHIVE_URL ?? null, archives);
  const archiveFolder = place.kind === "folder" ? place.folder : null;
  return { files, settings, archives: describeArchiveLocation(place), archiveFolder };
}

function report(
  { bytes, counts, environments }: BackupResult,
  { archives, archiveFolder }: HeaderFields,
  { file, isFresh }: Pick<BackupOptions, "file" | "isFresh">,
) {
  return [
    `The installation is backed up in ${file} (${sizeOf(bytes)}), encrypted with the passphrase.`,
    `The file contains ${contentOf(counts)}, all keys and settings.`,
    "",
    `It does not contain the content of the environments. That is in their own backups, in ${archives}.`,
    archiveFolder === null
      ? "Another machine must be able to reach that store."
      : "Copy that folder too: another machine needs it.",
    ...(environments.length === 0
      ? []
      : ["", "Newest backup of each environment, from which another machine would restore it:"]),
    ...environmentList(environments, ({ madeAt }) => (madeAt === null ? "NO BACKUP: can't be restored" : ago(madeAt))),
    ...(environments.length === 0 || isFresh ? [] : ["", ...refreshAdvice(file)]),
  ].join("\n");
}

function refreshAdvice(file: string): string[] {
  return [
    "To include fresh backups of all of them, run this while the installation is running:",
    `  npm run --silent operator -- backup '${file}' --force --with-backups`,
  ];
}

function reportProblems(problems: readonly string[]): string[] {
  if (problems.length === 0) return [];
  return ["", "These environments could not be backed up:", ...problems.map((problem) => `  ${problem}`)];
}
