/**
 * Proofs of backups as rows: which backup is next, and what its proof came to. Every moment is told by the database's clock,
 * and one that lies ahead of it, because the clock was put back since, counts as if it had never been.
 */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";

/** A backup as the operation that proves it needs it. */
export interface BackupToProve {
  readonly backupId: number;
  readonly backupName: string;
  readonly environmentId: string;
  readonly environmentNumber: number;
  readonly environmentName: string;
  readonly siteId: string;
  readonly siteName: string;
  readonly companyId: string;
  /** The environment's primary domain. */
  readonly host: string;
  readonly is_https: boolean;
}

/** Environments with a recent backup come first: someone is working there. */
const quietMinutes = 10;
/** What was proven, or failed to be, is left alone for so long. */
const daysUntilProvenAgain = 7;

/**
 * The day is cut into so many equal parts: whether none was begun yet in the present one, and none is under way. Those of
 * parts that are over are not made up for.
 */
export async function isProofDue(database: Database, perDay: number): Promise<boolean> {
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
 * The newest backup of the environment whose last proof began longest ago, where there is anything new to be found out.
 * Environments on which an operation is at work are left alone.
 */
export async function findBackupToProve(database: Database): Promise<BackupToProve | null> {
  const { rows } = await sql<BackupToProve>`
    select b.id as "backupId", b.name as "backupName", e.id as "environmentId", e.number as "environmentNumber",
      e.display_name as "environmentName", s.id as "siteId", s.display_name as "siteName", e.company_id as "companyId",
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
        or b.last_proof not between now() - make_interval(days => ${daysUntilProvenAgain}::integer) and now())
    order by case when e.last_proof_began <= now() then e.last_proof_began end nulls first, e.number
    limit 1`.execute(database);
  return rows[0] ?? null;
}

/** Puts the environment at the end of the line. Tolerates that it is gone. */
export async function noteProofBegan(transaction: DatabaseTransaction, environmentId: string): Promise<void> {
  const now = sql<Date>`now()`;
  await transaction
    .updateTable("environments")
    .set({ last_proof_began: now })
    .where("id", "=", environmentId)
    .execute();
}

/** Null if they were not counted, or the backup is gone. */
export async function findRowCounts(
  database: Database,
  backupId: number,
): Promise<Readonly<Record<string, number>> | null> {
  const row = await database.selectFrom("backups").select("row_counts").where("id", "=", backupId).executeTakeFirst();
  return row?.row_counts ?? null;
}

/** When a proof began to read a backup, and what was known of it then. Moments as the database writes them, to be given back. */
export interface ProofReading {
  readonly at: string;
  /** Whatever is found to be wrong with a backup changes when it is to be looked at. */
  readonly examineAt: string | null;
}

/** The backup is about to be read. Null if it is gone. */
export async function beginProofReading(database: Database, backupId: number): Promise<ProofReading | null> {
  const { rows } = await sql<ProofReading>`
    select now()::text as at, examine_at::text as "examineAt" from backups where id = ${backupId}`.execute(database);
  return rows[0] ?? null;
}

/**
 * All of the backup was read, and is as it should be. What has been found of it since the reading began stays; so does what
 * was known before where it is not known when that was. Tolerates that it is gone.
 */
export async function noteProven(
  transaction: DatabaseTransaction,
  backupId: number,
  reading: ProofReading | null,
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

/** `error` is a sentence. Tolerates that the backup is gone. */
export async function noteFailedProof(
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
