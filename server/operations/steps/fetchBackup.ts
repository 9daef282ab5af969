/** What operations make of a backup: it is fetched from the archives, each piece of it held against its hash. */
import type { EnvironmentRef } from "@sitewright/runtimes/runtime.ts";
import { BackupDamaged } from "../../archives/load.ts";
import { findBackup } from "../../store/backups/backups.ts";
import { noteDamage } from "../../store/backups/damage.ts";
import type { FinishedBackup } from "../../store/backups/finishedBackup.ts";
import type { Database } from "../../store/database.ts";
import { StepFailure } from "../engine/operation.ts";
import type { Services } from "./services.ts";

export const backupGone = "The backup is not there any more.";

export interface BackupFetch {
  readonly backup: FinishedBackup;
  /** Names the folder that it is put into: one operation may have several. */
  readonly work: string;
  /** Chooses files and folders by path. Absent: all. */
  readonly isWanted?: (path: string) => boolean;
}

/**
 * Returns the folder, as a snapshot is one, which is to be removed with `archives.removeWorkFolder`. Rejects with
 * `StepFailure` where a piece of the backup is missing or damaged, which the list of backups then says, or where it was removed.
 */
export async function fetchBackup(
  { archives, database }: Pick<Services, "archives" | "database">,
  { backup, work, isWanted = () => true }: BackupFetch,
  signal: AbortSignal,
): Promise<string> {
  const folder = await archives.workFolder(work);
  await reading(database, backup, archives.restore(backup, folder, isWanted, signal));
  return folder;
}

/** How large its files and its database are; what a backup has besides is shared and no environment's own. Rejects as above. */
export async function sizeOfBackup(
  { archives, database }: Pick<Services, "archives" | "database">,
  backup: FinishedBackup,
  signal: AbortSignal,
): Promise<{ readonly files: number; readonly database: number }> {
  const sizes = await reading(database, backup, archives.sizes(backup, signal));
  return { files: sizes.get("public") ?? 0, database: sizes.get("database") ?? 0 };
}

/** Of one that is removed meanwhile, anything may be missing, and nothing is damaged. */
async function reading<T>(database: Database, backup: FinishedBackup, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if ((await findBackup(database, backup.id)) === null) throw new StepFailure(backupGone, { cause });
    if (!(cause instanceof BackupDamaged)) throw cause;
    await noteDamage(database, backup.id, { damage: cause.message, again: "at once" });
    throw new StepFailure(cause.message, { cause });
  }
}

export interface BackupWork extends Omit<BackupFetch, "isWanted"> {
  /** One that is not there. */
  readonly environment: EnvironmentRef;
  /** Where it is going to be, which may be elsewhere than when the backup was made. */
  readonly address: string;
}

/** Makes an environment of a backup, whole or not at all. Again for the same environment it changes nothing. */
export async function makeOfBackup(
  services: Pick<Services, "archives" | "database" | "runtime">,
  { environment, address, ...wish }: BackupWork,
  signal: AbortSignal,
): Promise<{ readonly wordpressVersion: string | null }> {
  const { runtime, archives } = services;
  const folder = await fetchBackup(services, wish, signal);
  const made = await runtime.clone({ environment, source: { folder }, addresses: moves(wish.backup, address) });
  await archives.removeWorkFolder(wish.work);
  return made;
}

/** What becomes of its addresses where it is restored to this one. */
export function moves(backup: FinishedBackup, address: string) {
  return backup.address === address ? [] : [{ from: backup.address, to: address }];
}
