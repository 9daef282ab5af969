/** An environment made of the newest of some backups that is whole: an older one is better than none. */
import { BackupDamaged } from "../../archives/load.ts";
import { noteDamage, suspicion } from "../../store/backups/damage.ts";
import type { FinishedBackup } from "../../store/backups/finishedBackup.ts";
import { StepFailure } from "../engine/operation.ts";
import { type BackupWork, makeOfBackup } from "./fetchBackup.ts";
import type { Services } from "./services.ts";

export interface WholeWish extends Omit<BackupWork, "backup"> {
  /** Newest first. */
  readonly candidates: readonly FinishedBackup[];
}

export interface MadeOfWhole {
  readonly backup: FinishedBackup;
  /** How many newer ones are missing or damaged. */
  readonly damaged: number;
  readonly wordpressVersion: string | null;
}

/** Null if none is whole. Again for the same environment it changes nothing. */
export async function makeOfLatestIntactBackup(
  services: Pick<Services, "archives" | "database" | "runtime">,
  { candidates, ...work }: WholeWish,
  signal: AbortSignal,
): Promise<MadeOfWhole | null> {
  for (const [damaged, backup] of candidates.entries()) {
    const made = await makeUnlessDamaged(services, { ...work, backup }, signal);
    if (made !== null) return { backup, damaged, ...made };
  }
  return null;
}

/** Null if it is missing or damaged. */
async function makeUnlessDamaged(
  services: Pick<Services, "archives" | "database" | "runtime">,
  work: BackupWork,
  signal: AbortSignal,
) {
  // What is missing is mostly found by a list: nothing need be fetched for that.
  if (!(await services.archives.isWhole(work.backup, signal))) {
    await noteDamage(services.database, work.backup.id, { damage: suspicion, again: "at once" });
    return null;
  }
  try {
    return await makeOfBackup(services, work, signal);
  } catch (error) {
    if (error instanceof StepFailure && error.cause instanceof BackupDamaged) return null;
    throw error;
  }
}

/** What the owner should know of an environment that is there as of an older backup. */
export function olderBackupWarning(what: string, damaged: number, madeAt: string): string {
  return `${what} newest backups (${damaged}) are missing or damaged: it is there as it was on ${madeAt}.`;
}
