/** Fetches a backup from the archives and verifies the hash of each piece. */
import type { EnvironmentRef } from "@sitewright/runtimes/runtime.ts";
import { BackupDamaged } from "../../archives/load.ts";
import { findBackup } from "../../store/backups/backups.ts";
import { noteDamage } from "../../store/backups/damage.ts";
import type { FinishedBackup } from "../../store/backups/finishedBackup.ts";
import type { Database } from "../../store/database.ts";
import { StepFailure } from "../engine/operation.ts";
import type { Services } from "./services.ts";

export const backupGone = "The backup no longer exists.";

export interface BackupFetch {
  readonly backup: FinishedBackup;
  /** Name of the work folder to fetch into. An operation may have several. */
  readonly work: string;
  /** Selects files and folders by path. Absent: all. */
  readonly isWanted?: (path: string) => boolean;
}

/**
 * Returns the folder, which has the layout of a snapshot. The caller removes it with `archives.removeWorkFolder`.
 * Rejects with `StepFailure` if the backup was removed, or if a piece is missing or damaged; damage is also noted for
 * the list of backups.
 */
export async function fetchBackup(
  { archives, database }: Pick<Services, "archives" | "database">,
  { backup, work, isWanted = () => true }: BackupFetch,
  signal: AbortSignal,
): Promise<string> {
  const folder = await archives.workFolder(work);
  await noteDamageOnFailure(database, backup, archives.restore(backup, folder, isWanted, signal));
  return folder;
}

/** Returns the bytes of the backup's files and database, without shared code. Rejects like `fetchBackup`. */
export async function sizeOfBackup(
  { archives, database }: Pick<Services, "archives" | "database">,
  backup: FinishedBackup,
  signal: AbortSignal,
): Promise<{ readonly files: number; readonly database: number }> {
  const sizes = await noteDamageOnFailure(database, backup, archives.sizes(backup, signal));
  return { files: sizes.get("public") ?? 0, database: sizes.get("database") ?? 0 };
}

/** Notes damage, unless the backup was removed meanwhile: then missing pieces are no damage. */
async function noteDamageOnFailure<T>(database: Database, backup: FinishedBackup, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if ((await findBackup(database, backup.id)) === null) throw new StepFailure(backupGone, { cause });
    if (!(cause instanceof BackupDamaged)) throw cause;
    await noteDamage(database, backup.id, { damage: cause.message, again: "at once" });
    throw new StepFailure(cause.message, { cause });
  }
}

export interface NewFromBackup extends Omit<BackupFetch, "isWanted"> {
  /** The environment to create. Must not exist yet. */
  readonly environment: EnvironmentRef;
  /** The new environment's address, which may differ from the backup's. */
  readonly address: string;
}

/** Creates an environment from a backup, completely or not at all. Idempotent. */
export async function createFromBackup(
  services: Pick<Services, "archives" | "database" | "runtime">,
  { environment, address, ...options }: NewFromBackup,
  signal: AbortSignal,
): Promise<{ readonly wordpressVersion: string | null }> {
  const { runtime, archives } = services;
  const folder = await fetchBackup(services, options, signal);
  const made = await runtime.clone({
    environment,
    source: { folder, companyId: options.backup.companyId },
    addresses: addressChanges(options.backup, address),
  });
  await archives.removeWorkFolder(options.work);
  return made;
}

/** Returns the address replacements for restoring the backup at `address`. */
export function addressChanges(backup: FinishedBackup, address: string) {
  return backup.address === address ? [] : [{ from: backup.address, to: address }];
}
