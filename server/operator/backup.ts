/** `backup <file>`: the whole installation in one file, but for what its environments hold, which is in the archives. */
import { isAbsolute, resolve } from "node:path";
import { findInstallation, withDatabase } from "@sitewright/supervisor/postgres/ownDatabase.ts";
import { brokenOffRestore, readLastStart } from "@sitewright/supervisor/records.ts";
import { backupInstallation, type KeptBeside, type MadeBackup } from "../moving/backupInstallation.ts";
import { checkPlace } from "../moving/envelope.ts";
import { readKeptFiles } from "../moving/keptFiles.ts";
import { nameOfPlace, parseArchiveUrl } from "../settings/archiveUrl.ts";
import type { Config } from "../settings/config.ts";
import { movableSettings } from "../settings/settingsFile.ts";
import { openPool } from "../store/open.ts";
import type { Run, Surroundings } from "./command.ts";
import { Failure, failed } from "./failure.ts";
import { backUpAll } from "./freshBackups.ts";
import { choosePassphrase } from "./passphrase.ts";
import { ago, contentOf, listOf, sizeOf } from "./words.ts";

export interface BackupWish {
  readonly file: string;
  /** Whether a file that is there is replaced. */
  readonly isForced: boolean;
  /** Whether each environment is backed up first. */
  readonly isFresh: boolean;
}

/** npm runs us in the repository, wherever the person is. */
export function pathOf(file: string, env: NodeJS.ProcessEnv): string {
  return isAbsolute(file) ? file : resolve(env.INIT_CWD || process.cwd(), file);
}

export const runBackup: Run = ({ words: [file = ""], flags }, surroundings) =>
  backup({ file, isForced: flags.force === true, isFresh: flags["with-backups"] === true }, surroundings);

/** Returns what to tell the person. Rejects with `Failure` and `UnusableFile`. */
export async function backup({ file, isForced, isFresh }: BackupWish, surroundings: Surroundings): Promise<string> {
  const { config, env, typist } = surroundings;
  requireInstallation(config);
  const place = { file: pathOf(file, env), isForced };
  await checkPlace(place);
  const beside = await besideOf(config, env);
  const passphrase = await choosePassphrase(env, typist);
  return withDatabase(config, async (url) => {
    const pool = openPool(url, { connections: 1 });
    try {
      const say = (line: string) => void typist.output.write(`${line}\n`);
      const problems = isFresh ? await backUpAll(pool, config.data, say) : [];
      const made = await backupInstallation(pool, beside, { ...place, passphrase });
      return [tell(made, beside, place.file), ...tellProblems(problems)].join("\n");
    } finally {
      await pool.end();
    }
  });
}

function requireInstallation({ data }: Config): void {
  const brokenOff = brokenOffRestore(data);
  if (brokenOff !== null) throw new Failure(brokenOff, failed);
  if (findInstallation(data) !== null) return;
  throw new Failure(
    `There is no installation in ${data}. If its data is elsewhere, set SITEWRIGHT_DATA as at its start, then repeat.`,
    failed,
  );
}

/** The settings of the last start, because this command may have been given others. */
async function besideOf({ data, archives }: Config, env: NodeJS.ProcessEnv): Promise<KeptBeside> {
  const settings = readLastStart(data) ?? movableSettings(env);
  const files = await readKeptFiles(data);
  if (!("secrets/archive-key" in files)) {
    throw new Failure(
      `The key of the archives, ${data}/secrets/archive-key, is not there: start Sitewright on it first, which makes it or says what is wrong.`,
      failed,
    );
  }
  const place = parseArchiveUrl(settings.SITEWRIGHT_ARCHIVE_URL ?? null, archives);
  const archiveFolder = place.kind === "folder" ? place.folder : null;
  return { files, settings, archives: nameOfPlace(place), archiveFolder };
}

function tell({ bytes, counts, environments }: MadeBackup, { archives, archiveFolder }: KeptBeside, file: string) {
  return [
    `The installation is backed up in ${file} (${sizeOf(bytes)}). Only the passphrase opens it.`,
    `It holds ${contentOf(counts)}, all keys and settings.`,
    "",
    `What the environments hold is not in it: that is in their own backups, in ${archives}.`,
    archiveFolder === null
      ? "Another machine must be able to reach that store."
      : "Copy that folder too: another machine needs it.",
    ...(environments.length === 0 ? [] : ["", "On another machine they would come back as they were:"]),
    ...listOf(environments, ({ madeAt }) => (madeAt === null ? "NO BACKUP: it would not come back" : ago(madeAt))),
    ...(environments.length === 0 ? [] : ["", ...howToRefresh(file)]),
  ].join("\n");
}

function howToRefresh(file: string): string[] {
  return [
    "To have fresh backups of all of them, while the installation runs:",
    `  npm run --silent operator -- backup '${file}' --force --with-backups`,
  ];
}

function tellProblems(problems: readonly string[]): string[] {
  if (problems.length === 0) return [];
  return ["", "No fresh backup could be made of:", ...problems.map((problem) => `  ${problem}`)];
}
