/**
 * Verifies the archives, so that damage is found before a restore needs the data: reads pack after pack, least recently read
 * first, with pauses. Also examines backups that need lost packs: records which of their files are damaged, or that they are
 * intact again.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Archives } from "../archives/archives.ts";
import { damagePrefix } from "../archives/load.ts";
import { type BackupToExamine, findBackupsToExamine, noteDamage, noteIntact } from "../store/backups/damage.ts";
import { losePacks } from "../store/backups/lostPacks.ts";
import { findUnreadPacks, listPieces, notePackRead, type PackToRead } from "../store/backups/packs.ts";
import type { Database } from "../store/database.ts";

interface ReadArchivesOptions {
  readonly database: Database;
  readonly archives: Pick<Archives, "examine" | "readPack">;
  /** A pack is read again after this many days. */
  readonly days: number;
  readonly signal: AbortSignal;
  readonly pause?: (milliseconds: number) => Promise<unknown>;
}

/** Runs are short, so that the process can stop soon and the next run starts with the most urgent work. */
const packsPerRun = 50;
const backupsPerRun = 20;
const maxFailures = 3;
/** Pause after each item, as a multiple of its duration: backups and restores come first. */
const pauseFactor = 4;
const maxPause = 30_000;

export async function readArchives(options: ReadArchivesOptions): Promise<void> {
  const { database, days } = options;
  const backups = await findBackupsToExamine(database, backupsPerRun);
  await eachOrFail(backups, options, (backup) => examine(backup, options));
  const packs = await findUnreadPacks(database, days, packsPerRun);
  await eachOrFail(packs, options, (pack) => read(pack, options));
}

/** One failure does not stop the others, but if the store is down, trying every item is pointless. */
async function eachOrFail<T>(
  items: readonly T[],
  { signal, pause = pausing(signal) }: Pick<ReadArchivesOptions, "signal" | "pause">,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  for (const item of items) {
    if (signal.aborted) return;
    const began = Date.now();
    await work(item).catch((error: unknown) => failures.push(error));
    if (failures.length >= maxFailures) break;
    await pause(Math.min(maxPause, pauseFactor * (Date.now() - began)));
  }
  if (failures.length > 0 && !signal.aborted) throw failures[0];
}

function pausing(signal: AbortSignal) {
  return (milliseconds: number) => delay(milliseconds, undefined, { signal }).catch(() => undefined);
}

async function examine(backup: BackupToExamine, { database, archives, signal }: ReadArchivesOptions): Promise<void> {
  const { id, examineAt } = backup;
  const damage = await archives.examine(backup, signal);
  if (damage !== null) await noteDamage(database, id, { damage, again: "later" });
  else await noteIntact(database, id, { since: examineAt, testRestoreErrorPrefix: damagePrefix });
}

async function read({ id, companyId }: PackToRead, { database, archives, signal }: ReadArchivesOptions): Promise<void> {
  const pieces = await listPieces(database, id);
  if (await archives.readPack({ id, companyId, pieces }, signal)) await notePackRead(database, id);
  else await losePacks(database, [id]);
}
