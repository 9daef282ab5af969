/** When scheduled backups are due, and which one runs next. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";
import { type EnvironmentFacts, environmentFacts } from "../sites/environmentStates.ts";

/** Serialises the choice, so that processes don't choose the same backup or too many at once. */
const choiceLock = 5_170_419_003;

/** Lists at most `limit` environments without a due time, or with one after `farthest`. */
export async function listBackupsWithoutDueTime(
  database: Database,
  farthest: Date,
  limit: number,
): Promise<readonly string[]> {
  const rows = await database
    .selectFrom("environments")
    .select("id")
    .where("state", "=", "serving")
    .where(({ or, eb }) => or([eb("backup_due_at", "is", null), eb("backup_due_at", ">", farthest)]))
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

interface BackupDueTime {
  readonly id: string;
  readonly dueAt: Date;
}

export async function setDueTimes(database: Database, dueTimes: readonly BackupDueTime[]): Promise<void> {
  const [ids, times] = [dueTimes.map(({ id }) => id), dueTimes.map(({ dueAt }) => dueAt)];
  await sql`
    update environments e set backup_due_at = m.due_at
    from unnest(${ids}::uuid[], ${times}::timestamptz[]) as m (id, due_at)
    where e.id = m.id`.execute(database);
}

interface DueBackup {
  readonly environment: EnvironmentFacts;
  /** Failed attempts at the due backup. */
  readonly failures: number;
}

/**
 * Chooses an environment whose scheduled backup is due and on which no operation is running or waiting: of the company with
 * the fewest running scheduled backups, the longest overdue. If `atOnce` are running, one more is chosen of a company that
 * has none running. Returns null if there is none. No other process can choose until the transaction ends.
 */
export async function chooseDueBackup(
  transaction: DatabaseTransaction,
  now: Date,
  atOnce: number,
): Promise<DueBackup | null> {
  await sql`select pg_advisory_xact_lock(${sql.lit(choiceLock)})`.execute(transaction);
  const { running } = await transaction
    .selectFrom("operations")
    .select(({ fn }) => fn.countAll<number>().as("running"))
    .where("kind", "=", "addScheduledBackup")
    .where("state", "in", ["waiting", "running"])
    .executeTakeFirstOrThrow();
  if (running > atOnce) return null;
  const row = await environmentFacts(transaction)
    .select("e.backup_failures as failures")
    .where("e.state", "=", "serving")
    .where("e.backup_due_at", "<=", now)
    .where(isFree)
    .$if(running >= atOnce, (query) => query.where(runningOfCompany, "=", 0))
    .orderBy(runningOfCompany)
    .orderBy("e.backup_due_at")
    .orderBy("e.number")
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { failures, ...environment } = row;
  return { environment, failures };
}

/** SQL expression: the number of running scheduled backups of the company of the environment `e`. */
const runningOfCompany = sql<number>`(
  select count(*) from operations o
  where o.company_id = e.company_id and o.kind = 'addScheduledBackup' and o.state in ('waiting', 'running'))`;

/** SQL expression: no operation is running on the environment `e` or waiting for it. */
const isFree = sql<boolean>`(
  not exists (select from environment_locks l where l.environment_id = e.id)
  and not exists (select from operation_wants w where w.environment_id = e.id)
  and not exists (
    select from operations o where o.environment_id = e.id and o.state in ('waiting', 'running')))`;

/** Records that a backup has started and when the next one is due. */
export async function noteBackupBegun(transaction: DatabaseTransaction, { id, dueAt }: BackupDueTime): Promise<void> {
  await transaction.updateTable("environments").set({ backup_due_at: dueAt }).where("id", "=", id).execute();
}

/** Resets the count of failures. Does nothing if the environment is gone. */
export async function noteBackupMade(transaction: DatabaseTransaction, environmentId: string): Promise<void> {
  await transaction.updateTable("environments").set({ backup_failures: 0 }).where("id", "=", environmentId).execute();
}

/**
 * Records a failure and makes the backup due again at `againAt`, unless the next one is due sooner. If `againAt` is
 * null, gives up until the next one is due. Does nothing if the environment is gone.
 */
export async function noteBackupFailed(
  transaction: DatabaseTransaction,
  environmentId: string,
  againAt: Date | null,
): Promise<void> {
  await transaction
    .updateTable("environments")
    .set(({ eb, fn, val }) =>
      againAt === null
        ? { backup_failures: 0 }
        : {
            backup_failures: eb("backup_failures", "+", 1),
            backup_due_at: fn<Date>("least", ["backup_due_at", val(againAt)]),
          },
    )
    .where("id", "=", environmentId)
    .execute();
}

/** Whether a deletion of the operation's site or environment started after the operation, whatever its outcome. */
export async function wasDeletionBegun(transaction: DatabaseTransaction, operationId: string): Promise<boolean> {
  const row = await transaction
    .selectFrom("operations as own")
    .innerJoin("operations as o", "o.company_id", "own.company_id")
    .select("o.id")
    .where("own.id", "=", operationId)
    // Activity ids decide the order. The time only narrows the search, with tolerance for a clock that was set back.
    .where("o.created_at", ">", sql<Date>`own.created_at - interval '1 day'`)
    .whereRef("o.activity_id", ">", "own.activity_id")
    .whereRef("o.site_id", "=", "own.site_id")
    .where(({ or, eb }) =>
      or([
        eb("o.kind", "=", "deleteSite"),
        eb("o.kind", "=", "deleteEnvironment").and("o.environment_id", "=", eb.ref("own.environment_id")),
      ]),
    )
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
