/**
 * `restore <file>`: an installation out of such a file, into a data folder that has none. A record in the folder says from
 * the beginning to the end that it is under way: whatever breaks it off, the same command begins again.
 */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { openDataFolder } from "@sitewright/supervisor/dataFolder.ts";
import { clusterPath, findInstallation, withStartedDatabase } from "@sitewright/supervisor/postgres/ownDatabase.ts";
import { readRestore, removeRestore, writeRestore } from "@sitewright/supervisor/records.ts";
import type { Pool } from "pg";
import { writeDurableFile } from "../durableFile.ts";
import { openSealed, type Sealed, UnusableFile } from "../moving/envelope.ts";
import { type Header, readEntries, readHeader } from "../moving/format.ts";
import { removeKeptFiles, writeKeptFiles } from "../moving/keptFiles.ts";
import { migrationsFor, restoreDatabase, tablesIn } from "../moving/restoreDatabase.ts";
import { type Config, loadConfig } from "../settings/config.ts";
import { formatSettings, settingsPath, withSettingsFile } from "../settings/settingsFile.ts";
import { findRestore } from "../store/moved.ts";
import { openPool } from "../store/open.ts";
import { type Found, findWhole } from "./archiveCheck.ts";
import { pathOf } from "./backup.ts";
import type { Run, Surroundings } from "./command.ts";
import { Failure, failed } from "./failure.ts";
import { tellPassphrase } from "./passphrase.ts";
import { ago, listOf } from "./words.ts";

interface Opened {
  readonly sealed: Sealed;
  readonly header: Header;
  readonly progress: Progress;
}

interface Progress {
  /** Whether nothing of it can be in the database, so that what was begun goes again with the record that it was begun. */
  mayClear: boolean;
}

export const runRestore: Run = ({ words: [file = ""] }, surroundings) => restore(file, surroundings);

/** Returns what to tell the person. Rejects with `Failure` and `UnusableFile`; nothing has changed then. */
export async function restore(file: string, surroundings: Surroundings): Promise<string> {
  const { config, env, typist } = surroundings;
  const lock = openDataFolder(config.data);
  try {
    const brokenOff = readRestore(config.data);
    if (brokenOff === null) refuseInstallation(config);
    const sealed = await openSealed(pathOf(file, env), await tellPassphrase(env, typist));
    const header = await readWhole(sealed);
    const id = brokenOff?.id ?? randomUUID();
    writeRestore(config.data, { id });
    const progress = { mayClear: brokenOff === null };
    return await carryOut({ sealed, header, progress }, id, surroundings);
  } finally {
    lock.release();
  }
}

function refuseInstallation({ data }: Config): void {
  const found = findInstallation(data);
  if (found === null) return;
  throw new Failure(
    `There is an installation in ${data} already (${found}). Nothing was changed. ` +
      "Set SITEWRIGHT_DATA to a folder without one, or move this one away.",
    failed,
  );
}

/** Everything that can be wrong with a file is found before anything is changed. */
async function readWhole(sealed: Sealed): Promise<Header> {
  const header = await readHeader(sealed);
  await migrationsFor(header);
  for await (const entry of readEntries(sealed)) void entry;
  return header;
}

async function carryOut(opened: Opened, id: string, { config, env }: Surroundings): Promise<string> {
  try {
    return await withStartedDatabase(config, async (url) => {
      const pool = openPool(url, { connections: 1 });
      try {
        const filled = await fill(pool, opened, id, config);
        removeRestore(config.data);
        const found = await findWhole(pool, loadConfig(withSettingsFile(env)));
        return tell(opened.header, filled, found, { config, env });
      } finally {
        await pool.end();
      }
    });
  } catch (error) {
    if (opened.progress.mayClear) await clear(config);
    throw error;
  }
}

interface Filled {
  /** When the backup was made that it is of. */
  readonly madeAt: Date;
  /** Tables that were left out. */
  readonly strangers: readonly string[];
}

async function fill(pool: Pool, { sealed, header, progress }: Opened, id: string, { data }: Config): Promise<Filled> {
  // Killed between the commit and now, it had done everything, perhaps with another file.
  const done = await restoredAs(pool, id);
  if (done !== null) return { madeAt: done, strangers: [] };
  const tables = await tablesIn(pool);
  if (tables.length > 0) {
    throw new UnusableFile(
      `The database is not empty: it has the tables ${tables.slice(0, 5).join(", ")}${tables.length > 5 ? " …" : ""}. ` +
        "Nothing was changed. Set DATABASE_URL to one without tables.",
    );
  }
  const madeAt = new Date(header.madeAt);
  const strangers = await restoreDatabase(pool, sealed, header, {
    restore: { id, madeAt },
    finish: async () => {
      await writeKeptFiles(data, header.files);
      const title = `Settings of the installation that was backed up on ${header.madeAt}.`;
      await writeDurableFile(settingsPath(data), formatSettings(header.settings, title));
      // The commit comes: where its answer is lost, only the next restore finds out what became of it.
      progress.mayClear = false;
    },
  });
  return { madeAt, strangers };
}

async function restoredAs(pool: Pool, id: string): Promise<Date | null> {
  const client = await pool.connect();
  try {
    return await findRestore(client, id);
  } finally {
    client.release();
  }
}

/** The folder had no installation when this began. */
async function clear({ data }: Config): Promise<void> {
  await removeKeptFiles(data);
  for (const path of [settingsPath(data), clusterPath(data)]) await rm(path, { recursive: true, force: true });
  removeRestore(data);
}

function tell(
  header: Header,
  { madeAt, strangers }: Filled,
  found: Found,
  { config, env }: Pick<Surroundings, "config" | "env">,
): string {
  const { data, databaseUrl } = config;
  // As literally as it is to be typed: without it, another installation begins in the usual folder.
  const start = `${env.SITEWRIGHT_DATA ? `SITEWRIGHT_DATA='${data}' ` : ""}npm start`;
  return [
    `The installation is restored in ${data}, as it was ${ago(madeAt)} (${madeAt.toISOString()}).`,
    `Its settings are in ${settingsPath(data)}: look whether they are right for this machine.`,
    ...strangers.map((name) => `The table ${name} is none of Sitewright's and was left out.`),
    "",
    ...tellArchives(header, found),
    "",
    "Now, in this order:",
    "  1. Stop the installation that was backed up, for good. While both run, each removes from the archives what only the other needs.",
    ...(header.archiveFolder === null
      ? []
      : [
          `  2. Copy its archives, ${header.archiveFolder}, to ${placeFor(header.archiveFolder, found)}, if they are not there yet.`,
        ]),
    `  ${header.archiveFolder === null ? 2 : 3}. ${start}${databaseUrl === null ? "" : ", with the same DATABASE_URL"}`,
    "Environments then come back one after the other; until then visitors are told that their site is not available at the moment.",
  ].join("\n");
}

function placeFor(archiveFolder: string, { folder }: Found): string {
  if (folder === null) return "where SITEWRIGHT_ARCHIVE_URL says";
  return folder === archiveFolder ? "the same folder on this machine" : folder;
}

function tellArchives({ archives }: Header, { place, environments, problem }: Found): string[] {
  if (problem !== null) return [`The archives, ${place}, could not be read: ${problem}`, `They were in ${archives}.`];
  if (environments.length === 0) return ["It has no environments."];
  return [
    `In the archives, ${place}, as of which each environment comes back:`,
    ...listOf(environments, ({ madeAt, backupId, isWhole }) => {
      if (backupId === null || madeAt === null) return "NO BACKUP: it can't come back";
      return isWhole
        ? ago(madeAt)
        : `${ago(madeAt)}, but NOT WHOLE in the archives: an older backup is taken, if there is one`;
    }),
  ];
}
