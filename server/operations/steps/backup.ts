/** Backs up an environment as part of an operation. */
import { setTimeout as delay } from "node:timers/promises";
import type { EnvironmentRef } from "@sitewright/runtimes/runtime.ts";
import type { KeptBackup } from "../../archives/archives.ts";
import type { Reading } from "../../archives/readAgain.ts";
import {
  type BackupType,
  beginBackup,
  findNewestBackup,
  finishBackup,
  removeBackup,
} from "../../store/backups/backups.ts";
import type { FinishedBackup } from "../../store/backups/finishedBackup.ts";
import type { Database } from "../../store/database.ts";
import { StepFailure } from "../engine/operation.ts";
import { type Copy, requireCompanySpace } from "./diskSpace.ts";
import type { Services } from "./services.ts";

interface BackupRequest {
  readonly environment: EnvironmentRef;
  /** The environment's scheme, host and port. */
  readonly address: string;
  readonly operationId: string;
  readonly type: BackupType;
  readonly name: string;
  readonly note: string | null;
  /** Reads all files if the last full read is at least this many days ago. Absent: reads only changed files. */
  readonly fullAfterDays?: number;
  /** Whether the environment is deleted next. Its backup may exceed the company's disk space: the deletion frees more. */
  readonly isBeforeDeletion?: boolean;
}

const nouns: Readonly<Record<BackupType, string>> = {
  manual: "The backup",
  scheduled: "The scheduled backup",
  "system-generated": "The backup before the change",
};

const environmentGone = "The environment no longer exists.";

/** The operation's id without the prefix for its kind. Names its work folder. */
export function workName(operationId: string): string {
  return operationId.slice(-36);
}

const day = 86_400_000;

/**
 * A daily backup may start slightly earlier than the day before, so a full read that is due within an hour counts as
 * due.
 */
const slack = 3_600_000;

/** Expected fraction of archived files that have changed since the last backup. */
const changedFraction = 0.1;

/** Estimates the disk space for a backup: the database is copied and then archived, the files are only archived. */
export async function backupSpace(database: Database, environment: EnvironmentRef): Promise<Copy> {
  const before = await findNewestBackup(database, environment.id);
  return { environment, files: before === null ? 1 : changedFraction, database: 2 };
}

/**
 * Backs up the environment. If called again for the same operation, replaces the backup's content. Throws `StepFailure` if the
 * company has used its disk space.
 */
export async function backUp(services: Services, request: BackupRequest, signal: AbortSignal): Promise<void> {
  const { database, backupDays } = services;
  const { environment, address, operationId, type, name, note, fullAfterDays } = request;
  if (request.isBeforeDeletion !== true) await requireCompanySpace(database, environment.id, nouns[type]);
  const startedAt = new Date();
  const expiresAt = new Date(startedAt.getTime() + backupDays[type] * day);
  const row = { environmentId: environment.id, address, operationId, type, name, note, expiresAt };
  const backup = await beginBackup(database, row);
  if (backup === null) throw new StepFailure(environmentGone);
  const newest = await findNewestBackup(database, environment.id);
  const isFull = newest === null || (fullAfterDays !== undefined && isReadLongAgo(newest, fullAfterDays, startedAt));
  const kept = await archiveSnapshot(services, request, backup, isFull ? null : newest, signal);
  const fullyReadAt = isFull ? startedAt : newest.fullyReadAt;
  if (!(await finishBackup(database, backup, { ...kept, fullyReadAt }))) throw new StepFailure(environmentGone);
}

/** A time in the future also counts: the clock was set back since. */
function isReadLongAgo({ fullyReadAt }: Pick<FinishedBackup, "fullyReadAt">, days: number, now: Date): boolean {
  if (fullyReadAt === null) return true;
  const age = now.getTime() - fullyReadAt.getTime();
  return age < 0 || age >= days * day - slack;
}

/**
 * How long a backup may spend on re-reading packs that it reuses: stale ones (`milliseconds`) and others
 * (`moreMilliseconds`). Both limits are short while the environment is frozen ("system-generated"), the second one also
 * while a user waits ("manual").
 */
const rereadLimits: Readonly<Record<BackupType, Omit<Reading, "days">>> = {
  manual: { milliseconds: Infinity, moreMilliseconds: 300 },
  scheduled: { milliseconds: Infinity, moreMilliseconds: 10_000 },
  "system-generated": { milliseconds: 10_000, moreMilliseconds: 0 },
};

/** How long a finished backup waits for the row counts. */
const countRowsMilliseconds = 3_000;

async function archiveSnapshot(
  { runtime, archives, archiveReadDays }: Services,
  { environment, operationId, type }: BackupRequest,
  backup: { readonly id: number; readonly companyId: string },
  before: KeptBackup | null,
  signal: AbortSignal,
) {
  const work = workName(operationId);
  const folder = await archives.workFolder(work);
  const release = async () => (await runtime.layout(environment))?.release;
  const stopCounting = new AbortController();
  try {
    const releaseBefore = await release();
    await runtime.snapshot(environment, folder);
    // Row counts are optional: a backup without them is better than none.
    const counting = runtime
      .countRows({ folder, companyId: backup.companyId }, AbortSignal.any([signal, stopCounting.signal]))
      .catch(() => null);
    const kept = await archives.keep(backup, folder, before, signal, {
      ...rereadLimits[type],
      days: archiveReadDays,
    });
    // The next release may share the files, and its visitors may have changed them.
    if ((await release()) !== releaseBefore)
      throw new StepFailure("The environment was replaced while it was backed up.");
    const rowCounts = await Promise.race([counting, delay(countRowsMilliseconds, null, { ref: false })]);
    return { ...kept, rowCounts };
  } finally {
    stopCounting.abort();
    await archives.removeWorkFolder(work);
  }
}

/** Undoes `backUp`, also if it never ran. */
export async function undoBackUp({ database, archives }: Services, operationId: string): Promise<void> {
  await removeBackup(database, operationId);
  await archives.removeWorkFolder(workName(operationId));
}
