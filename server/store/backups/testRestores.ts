/**
 * Test restores of backups: which backup is next, and the results. All times are from the database's clock. Times in
 * the future, from before the clock was set back, are ignored.
 */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";

/** A backup for a test restore. */
export interface BackupToTest {
  readonly backupId: number;
  readonly backupName: string;
  readonly environmentId: string;
  readonly environmentNumber: number;
  readonly environmentName: string;
  /** Name of the environment's runtime. */
  readonly runtime: string;
  readonly siteId: string;
  readonly siteName: string;
  readonly companyId: string;
  /** The environment's primary domain. */
  readonly host: string;
  readonly is_https: boolean;
}

/** Environments with a backup newer than this are skipped: someone is working there. */
const quietMinutes = 10;
/** A backup's test restore is repeated after this time, whether it succeeded or failed. */
const testAgainDays = 7;

/**
 * Divides the day into `perDay` equal parts. Returns whether no test restore has started in the current part and none
 * is running. Missed ones are not made up for.
 */
export async function isTestRestoreDue(database: Database, perDay: number): Promise<boolean> {
  const { rows } = await sql<{ is_due: boolean }>`
    select not exists (
      select from operations where kind = 'proveBackup' and (
        state in ('waiting', 'running')
        or created_at between date_bin(interval '1 day' / ${perDay}::integer, now(), to_timestamp(0)) and now()
      )
    ) as is_due`.execute(database);
  return rows[0]?.is_due ?? false;
}

/**
 * Finds the newest backup of the environment whose last test restore started longest ago. Skips recently tested backups
 * and environments on which an operation is running.
 */
export async function findBackupToTest(database: Database): Promise<BackupToTest | null> {
  const { rows } = await sql<BackupToTest>`
    select b.id as "backupId", b.name as "backupName", e.id as "environmentId", e.number as "environmentNumber",
      e.display_name as "environmentName", e.runtime, s.id as "siteId", s.display_name as "siteName", e.company_id as "companyId",
      d.name as host, d.is_https
    from environments e
    join sites s on s.id = e.site_id
    join domains d on d.environment_id = e.id and d.is_primary
    cross join lateral (
      select id, name, created_at, last_proof from backups
      where environment_id = e.id and manifest is not null order by id desc limit 1
    ) b
    where e.state = 'serving'
      and not exists (select from environment_locks l where l.environment_id = e.id)
      and b.created_at not between now() - make_interval(mins => ${quietMinutes}::integer) and now()
      and (b.last_proof is null
        or b.last_proof not between now() - make_interval(days => ${testAgainDays}::integer) and now())
    order by case when e.last_proof_began <= now() then e.last_proof_began end nulls first, e.number
    limit 1`.execute(database);
  return rows[0] ?? null;
}

/** Moves the environment to the end of the queue. Does nothing if it is gone. */
export async function noteTestRestoreStarted(transaction: DatabaseTransaction, environmentId: string): Promise<void> {
  const now = sql<Date>`now()`;
  await transaction
    .updateTable("environments")
    .set({ last_proof_began: now })
    .where("id", "=", environmentId)
    .execute();
}

/** Returns the row counts of a backup's tables, or null if they were not counted or the backup is gone. */
export async function findRowCounts(
  database: Database,
  backupId: number,
): Promise<Readonly<Record<string, number>> | null> {
  const row = await database.selectFrom("backups").select("row_counts").where("id", "=", backupId).executeTakeFirst();
  return row?.row_counts ?? null;
}

/**
 * When a test restore started to read a backup, and the state at that time. Times are in the database's text format.
 */
export interface TestRestoreReading {
  readonly at: string;
  /** Changes whenever damage is found. */
  readonly examineAt: string | null;
}

/** Call before reading the backup. Returns null if it is gone. */
export async function beginTestRestoreReading(
  database: Database,
  backupId: number,
): Promise<TestRestoreReading | null> {
  const { rows } = await sql<TestRestoreReading>`
    select now()::text as at, examine_at::text as "examineAt" from backups where id = ${backupId}`.execute(database);
  return rows[0] ?? null;
}

/**
 * Records a successful test restore and clears known damage, except damage found since `reading`; keeps all damage if
 * `reading` is null. Does nothing if the backup is gone.
 */
export async function noteTestRestore(
  transaction: DatabaseTransaction,
  backupId: number,
  reading: TestRestoreReading | null,
): Promise<void> {
  await sql`
    update backups set last_proof = now(), last_proven_restore = now(), proof_error = null
    where id = ${backupId}`.execute(transaction);
  if (reading === null) return;
  await sql`
    update backups set damage = null, examine_at = null,
      verified_at = greatest(verified_at, least(${reading.at}::timestamptz, now()))
    where id = ${backupId} and examine_at is not distinct from ${reading.examineAt}::timestamptz`.execute(transaction);
}

/** Records a failed test restore; `error` is a sentence. Does nothing if the backup is gone. */
export async function noteFailedTestRestore(
  transaction: DatabaseTransaction,
  backupId: number,
  error: string,
): Promise<void> {
  await transaction
    .updateTable("backups")
    .set({ last_proof: sql<Date>`now()`, proof_error: error })
    .where("id", "=", backupId)
    .execute();
}
