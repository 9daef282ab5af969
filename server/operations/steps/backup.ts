/** The backup that an operation makes, of an environment as it is at that moment. */
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
import type { Copy } from "./diskRoom.ts";
import type { Services } from "./services.ts";

export interface BackupWish {
  readonly environment: EnvironmentRef;
  /** Scheme, host and port at which it is. */
  readonly address: string;
  readonly operationId: string;
  readonly type: BackupType;
  readonly name: string;
  readonly note: string | null;
  /** Everything is read again where that was last done before so many days. Absent: what has not changed never is. */
  readonly fullAfterDays?: number;
}

const goneSentence = "The environment is not there any more.";

/** The operation's own id, without the prefix that says its kind. */
export function workName(operationId: string): string {
  return operationId.slice(-36);
}

const day = 86_400_000;

/** One day's backup may begin a little sooner than a whole day after the last: what is due within the hour counts as due. */
const slack = 3_600_000;

/** Of files that an earlier backup has, so many are likely to be others by now. */
const likelyChanged = 0.1;

/** What a backup of the environment is likely to take: its database is copied first, and its files are kept once. */
export async function backupRoom(database: Database, environment: EnvironmentRef): Promise<Copy> {
  const before = await findNewestBackup(database, environment.id);
  return { environment, files: before === null ? 1 : likelyChanged, database: 2 };
}

/** Backs the environment up as it is now. Again for the same operation, the content is replaced. */
export async function backUp(services: Services, wish: BackupWish, signal: AbortSignal): Promise<void> {
  const { database, backupDays } = services;
  const { environment, address, operationId, type, name, note, fullAfterDays } = wish;
  const began = new Date();
  const expiresAt = new Date(began.getTime() + backupDays[type] * day);
  const row = { environmentId: environment.id, address, operationId, type, name, note, expiresAt };
  const backup = await beginBackup(database, row);
  if (backup === null) throw new StepFailure(goneSentence);
  const newest = await findNewestBackup(database, environment.id);
  const isFull = newest === null || (fullAfterDays !== undefined && isReadLongAgo(newest, fullAfterDays, began));
  const kept = await keep(services, wish, backup, isFull ? null : newest, signal);
  const fullyReadAt = isFull ? began : newest.fullyReadAt;
  if (!(await finishBackup(database, backup, { ...kept, fullyReadAt }))) throw new StepFailure(goneSentence);
}

/** Also where it was in the future: the clock was put back since. */
function isReadLongAgo({ fullyReadAt }: Pick<FinishedBackup, "fullyReadAt">, days: number, now: Date): boolean {
  if (fullyReadAt === null) return true;
  const age = now.getTime() - fullyReadAt.getTime();
  return age < 0 || age >= days * day - slack;
}

/**
 * Where a site may stand still meanwhile, it is not waited long for what is read again; where somebody waits, not for what
 * was read lately either.
 */
const readingOf: Readonly<Record<BackupType, Omit<Reading, "days">>> = {
  manual: { milliseconds: Infinity, moreMilliseconds: 300 },
  scheduled: { milliseconds: Infinity, moreMilliseconds: 10_000 },
  "system-generated": { milliseconds: 10_000, moreMilliseconds: 0 },
};

/** For so long a backup that is finished otherwise waits for its rows to be counted. */
const countingMilliseconds = 3_000;

async function keep(
  { runtime, archives, archiveReadDays }: Services,
  { environment, operationId, type }: BackupWish,
  backup: { readonly id: number; readonly companyId: string },
  before: KeptBackup | null,
  signal: AbortSignal,
) {
  const work = workName(operationId);
  const folder = await archives.workFolder(work);
  const release = async () => (await runtime.layout(environment))?.release;
  const enough = new AbortController();
  try {
    const began = await release();
    await runtime.snapshot(environment, folder);
    // A backup whose rows can't be counted, or not soon, is better than none.
    const counting = runtime.countRows({ folder }, AbortSignal.any([signal, enough.signal])).catch(() => null);
    const kept = await archives.keep(backup, folder, before, signal, {
      ...readingOf[type],
      days: archiveReadDays,
    });
    // Its files may be those of the next one too, and then they were written by that one's visitors.
    if ((await release()) !== began) throw new StepFailure("The environment was replaced while it was backed up.");
    const rowCounts = await Promise.race([counting, delay(countingMilliseconds, null, { ref: false })]);
    return { ...kept, rowCounts };
  } finally {
    enough.abort();
    await archives.removeWorkFolder(work);
  }
}

/** Undoes `backUp`; tolerates that it never happened. */
export async function removeBackUp({ database, archives }: Services, operationId: string): Promise<void> {
  await removeBackup(database, operationId);
  await archives.removeWorkFolder(workName(operationId));
}
