/** Creates an environment from its newest intact backup: an older backup is better than none. */
import { BackupDamaged } from "../../archives/load.ts";
import { noteDamage, suspectedDamage } from "../../store/backups/damage.ts";
import type { FinishedBackup } from "../../store/backups/finishedBackup.ts";
import { StepFailure } from "../engine/operation.ts";
import { createFromBackup, type NewFromBackup } from "./fetchBackup.ts";
import type { Services } from "./services.ts";

interface IntactBackupOptions extends Omit<NewFromBackup, "backup"> {
  /** Newest first. */
  readonly candidates: readonly FinishedBackup[];
}

interface CreatedFromBackup {
  readonly backup: FinishedBackup;
  /** Number of newer backups that are missing or damaged. */
  readonly damaged: number;
  readonly wordpressVersion: string | null;
}

/** Returns null if no backup is intact. Idempotent. */
export async function createFromLatestIntactBackup(
  services: Pick<Services, "archives" | "database" | "runtime">,
  { candidates, ...work }: IntactBackupOptions,
  signal: AbortSignal,
): Promise<CreatedFromBackup | null> {
  for (const [damaged, backup] of candidates.entries()) {
    const made = await createUnlessDamaged(services, { ...work, backup }, signal);
    if (made !== null) return { backup, damaged, ...made };
  }
  return null;
}

/** Returns null if the backup is missing or damaged. */
async function createUnlessDamaged(
  services: Pick<Services, "archives" | "database" | "runtime">,
  work: NewFromBackup,
  signal: AbortSignal,
) {
  // Listing the archive finds most missing pieces without downloading anything.
  if (!(await services.archives.isIntact(work.backup, signal))) {
    await noteDamage(services.database, work.backup.id, { damage: suspectedDamage, again: "at once" });
    return null;
  }
  try {
    return await createFromBackup(services, work, signal);
  } catch (error) {
    if (error instanceof StepFailure && error.cause instanceof BackupDamaged) return null;
    throw error;
  }
}

/** The warning for the owner of an environment that was restored from an older backup. */
export function olderBackupWarning(what: string, damaged: number, madeAt: string): string {
  return `${what} newest backups (${damaged}) are missing or damaged, so it was restored from the backup of ${madeAt}.`;
}
