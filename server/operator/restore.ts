/**
 * `restore <file>`: restores a backup of an installation into an empty data folder. A record in the folder marks a restore in
 * progress, so that the same command starts over after an interruption.
 */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { openDataFolder } from "@sitewright/supervisor/dataFolder.ts";
import { clusterPath, findInstallationFile, withStartedDatabase } from "@sitewright/supervisor/postgres/ownDatabase.ts";
import { readRestore, removeRestore, writeRestore } from "@sitewright/supervisor/records.ts";
import type { Pool } from "pg";
import { writeDurableFile } from "../durableFile.ts";
import { removeDataFolderFiles, writeDataFolderFiles } from "../moving/dataFolderFiles.ts";
import { openSealed, type Sealed, UnusableFile } from "../moving/envelope.ts";
import { type Header, readEntries, readHeader } from "../moving/format.ts";
import { migrationsFor, restoreDatabase, tablesIn } from "../moving/restoreDatabase.ts";
import { readEnvironment, sealSettings, secretsKeyFile } from "../sealedSettings.ts";
import { openSealer } from "../sealing.ts";
import { type Config, loadConfig } from "../settings/config.ts";
import { formatSettings, settingsPath } from "../settings/settingsFile.ts";
import { openPool } from "../store/open.ts";
import { findRestore } from "../store/restoredInstallation.ts";
import { type ArchiveCheck, checkArchives } from "./archiveCheck.ts";
import { absolutePath } from "./backup.ts";
import type { CommandContext, Run } from "./command.ts";
import { exitFailed, Failure } from "./failure.ts";
import { ago, environmentList } from "./formatting.ts";
import { askPassphrase } from "./passphrase.ts";

interface OpenedBackup {
  readonly sealed: Sealed;
  readonly header: Header;
  readonly progress: Progress;
}

interface Progress {
  /** Whether a failure can remove all traces of the restore: true as long as nothing can be in the database. */
  canClear: boolean;
}

export const runRestore: Run = ({ words: [file = ""] }, context) => restore(file, context);

/** Returns the report for the operator. Rejects with `Failure` and `UnusableFile`, without having changed anything. */
async function restore(file: string, context: CommandContext): Promise<string> {
  const { config, env, terminal } = context;
  const lock = openDataFolder(config.data);
  try {
    const interrupted = readRestore(config.data);
    if (interrupted === null) refuseInstallation(config);
    const sealed = await openSealed(absolutePath(file, env), await askPassphrase(env, terminal));
    const header = await verify(sealed);
    const id = interrupted?.id ?? randomUUID();
    writeRestore(config.data, { id });
    const progress = { canClear: interrupted === null };
    return await run({ sealed, header, progress }, id, context);
  } finally {
    lock.release();
  }
}

function refuseInstallation({ data }: Config): void {
  const found = findInstallationFile(data);
  if (found === null) return;
  throw new Failure(
    `There is already an installation in ${data} (${found}). Nothing was changed. ` +
      "Set SITEWRIGHT_DATA to another folder, or move this one away.",
    exitFailed,
  );
}

/** Reads the whole file before anything is changed, so that a damaged one is found now. */
async function verify(sealed: Sealed): Promise<Header> {
  const header = await readHeader(sealed);
  await migrationsFor(header);
  for await (const entry of readEntries(sealed)) void entry;
  return header;
}

async function run(opened: OpenedBackup, id: string, { config, env }: CommandContext): Promise<string> {
  try {
    return await withStartedDatabase(config, async (url) => {
      const pool = openPool(url, { connections: 1 });
      try {
        const restored = await restoreContent(pool, opened, id, config);
        removeRestore(config.data);
        const archives = await checkArchives(pool, loadConfig(readEnvironment(env)));
        return report(opened.header, restored, archives, { config, env });
      } finally {
        await pool.end();
      }
    });
  } catch (error) {
    if (opened.progress.canClear) await clear(config);
    throw error;
  }
}

interface Restored {
  /** When the backup was made. */
  readonly madeAt: Date;
  /** Tables that were left out. */
  readonly leftOut: readonly string[];
}

async function restoreContent(
  pool: Pool,
  { sealed, header, progress }: OpenedBackup,
  id: string,
  { data }: Config,
): Promise<Restored> {
  // An earlier attempt was killed after its commit, perhaps with another file.
  const madeAtBefore = await findCommitted(pool, id);
  if (madeAtBefore !== null) return { madeAt: madeAtBefore, leftOut: [] };
  const tables = await tablesIn(pool);
  if (tables.length > 0) {
    throw new UnusableFile(
      `The database is not empty: it has the tables ${tables.slice(0, 5).join(", ")}${tables.length > 5 ? " …" : ""}. ` +
        "Nothing was changed. Set DATABASE_URL to an empty database.",
    );
  }
  const madeAt = new Date(header.madeAt);
  const leftOut = await restoreDatabase(pool, sealed, header, {
    restore: { id, madeAt },
    finish: async () => {
      await writeDataFolderFiles(data, header.files);
      const settings = sealSettings(header.settings, await openSealer(secretsKeyFile(data)));
      const title = `Settings of the installation that was backed up on ${header.madeAt}.`;
      await writeDurableFile(settingsPath(data), formatSettings(settings, title));
      // Next is the commit. If its answer is lost, only the next restore can find out whether it succeeded.
      progress.canClear = false;
    },
  });
  return { madeAt, leftOut };
}

/** The time of the backup that the restore with this id has committed, or null. */
async function findCommitted(pool: Pool, id: string): Promise<Date | null> {
  const client = await pool.connect();
  try {
    return await findRestore(client, id);
  } finally {
    client.release();
  }
}

/** Removes all traces of the restore. The folder had no installation before. */
async function clear({ data }: Config): Promise<void> {
  await removeDataFolderFiles(data);
  for (const path of [settingsPath(data), clusterPath(data)]) await rm(path, { recursive: true, force: true });
  removeRestore(data);
}

function report(
  header: Header,
  { madeAt, leftOut }: Restored,
  archives: ArchiveCheck,
  { config, env }: Pick<CommandContext, "config" | "env">,
): string {
  const { data, databaseUrl } = config;
  // To be copied literally: without the folder, a new installation would start in the default one.
  const start = `${env.SITEWRIGHT_DATA ? `SITEWRIGHT_DATA='${data}' ` : ""}npm start`;
  return [
    `The installation is restored in ${data}, from the backup made ${ago(madeAt)} (${madeAt.toISOString()}).`,
    `Its settings are in ${settingsPath(data)}. Check that they are right for this machine.`,
    ...leftOut.map((name) => `The table ${name} does not belong to Sitewright and was left out.`),
    "",
    ...reportArchives(header, archives),
    "",
    "Next steps, in this order:",
    "  1. Stop the old installation permanently. If both run, each deletes archive data that the other needs.",
    ...(header.archiveFolder === null
      ? []
      : [
          `  2. Copy its archives, ${header.archiveFolder}, to ${targetFor(header.archiveFolder, archives)}, if they are not there yet.`,
        ]),
    `  ${header.archiveFolder === null ? 2 : 3}. ${start}${databaseUrl === null ? "" : ", with the same DATABASE_URL"}`,
    "The environments are then restored one after the other. Until then, visitors see that the site is temporarily unavailable.",
  ].join("\n");
}

function targetFor(archiveFolder: string, { folder }: ArchiveCheck): string {
  if (folder === null) return "the location in SITEWRIGHT_ARCHIVE_URL";
  return folder === archiveFolder ? "the same folder on this machine" : folder;
}

function reportArchives({ archives }: Header, { location, environments, problem }: ArchiveCheck): string[] {
  if (problem !== null) {
    return [`The archives, ${location}, could not be read: ${problem}`, `The old archives were in ${archives}.`];
  }
  if (environments.length === 0) return ["It has no environments."];
  return [
    `Newest backup of each environment in the archives, ${location}:`,
    ...environmentList(environments, ({ madeAt, backupId, isIntact }) => {
      if (backupId === null || madeAt === null) return "NO BACKUP: can't be restored";
      return isIntact
        ? ago(madeAt)
        : `${ago(madeAt)}, but INCOMPLETE in the archives: an older backup is used if there is one`;
    }),
  ];
}
