/**
 * Reads what lies in the archives again, so that what rots there is found before anybody needs it: pack after pack, the longest
 * unread first, with pauses. And looks at backups that lost packs are needed for: what exactly they lack, or nothing any more.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Archives } from "../archives/archives.ts";
import { damageBegins } from "../archives/load.ts";
import { type BackupToExamine, findBackupsToExamine, noteDamage, noteIntact } from "../store/backups/damage.ts";
import { losePacks } from "../store/backups/lostPacks.ts";
import { findUnreadPacks, listPieces, notePackRead, type PackToRead } from "../store/backups/packs.ts";
import type { Database } from "../store/database.ts";

export interface ReadArchivesOptions {
  readonly database: Database;
  readonly archives: Pick<Archives, "examine" | "readPack">;
  /** A pack that was not read for so many days has its turn. */
  readonly days: number;
  /** Whether to go on. */
  readonly signal: AbortSignal;
  readonly pause?: (milliseconds: number) => Promise<unknown>;
}

/** The process must be able to stop soon, and what is urgent comes first again. */
const packsTogether = 50;
const backupsTogether = 20;
const mostFailures = 3;
/** After each pack nothing is read for so many times as long as it took: backups and restores come first. */
const pauseTimes = 4;
const longestPause = 30_000;

export async function readArchives(options: ReadArchivesOptions): Promise<void> {
  const { database, days } = options;
  const backups = await findBackupsToExamine(database, backupsTogether);
  await eachOrFail(backups, options, (backup) => examine(backup, options));
  const packs = await findUnreadPacks(database, days, packsTogether);
  await eachOrFail(packs, options, (pack) => read(pack, options));
}

/** One that fails does not keep the others, but a store that is away need not be asked for each. */
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
    if (failures.length >= mostFailures) break;
    await pause(Math.min(longestPause, pauseTimes * (Date.now() - began)));
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
  else await noteIntact(database, id, { since: examineAt, testRestoreErrorPrefix: damageBegins });
}

async function read({ id, companyId }: PackToRead, { database, archives, signal }: ReadArchivesOptions): Promise<void> {
  const pieces = await listPieces(database, id);
  if (await archives.readPack({ id, companyId, pieces }, signal)) await notePackRead(database, id);
  else await losePacks(database, [id]);
}
