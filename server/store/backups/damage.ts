/**
 * Known damage of backups in the archives, and when their content was last read. All times are from the database's
 * clock.
 */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";
import type { BackupRef, FinishedBackup } from "./finishedBackup.ts";

/** The damage of a backup until an examination has found what is missing. */
export const suspectedDamage = "Some of its content is missing or damaged in the archives. It is being examined.";

/** Damaged backups are examined again, because missing content may have been restored. */
const examineAgainDays = 1;

/** Records damage (a sentence) and when to examine the backup again. Does nothing if the backup is gone. */
export async function noteDamage(
  database: Database,
  backupId: number,
  { damage, again }: { readonly damage: string; readonly again: "at once" | "later" },
): Promise<void> {
  const days = again === "at once" ? 0 : examineAgainDays;
  const examine_at = sql<Date>`now() + make_interval(days => ${days}::integer)`;
  await database.updateTable("backups").set({ damage, examine_at }).where("id", "=", backupId).execute();
}

/**
 * Records that all content of the backup can be read. Clears damage, and errors of test restores that start with
 * `testRestoreErrorPrefix`, so that the test restore is repeated. Keeps damage that was found after `since`. Does
 * nothing if the backup is gone.
 */
export async function noteIntact(
  database: Database,
  backupId: number,
  { since, testRestoreErrorPrefix }: { readonly since: Date; readonly testRestoreErrorPrefix: string },
): Promise<void> {
  await sql`
    update backups set damage = null, examine_at = null,
      last_proof = case when starts_with(proof_error, ${testRestoreErrorPrefix}) then null else last_proof end,
      proof_error = case when starts_with(proof_error, ${testRestoreErrorPrefix}) then null else proof_error end
    where id = ${backupId} and date_trunc('milliseconds', examine_at) = ${since}`.execute(database);
}

/** Marks a backup that is being finished as damaged if a pack that it needs was lost meanwhile. */
export async function suspectWhereLost(transaction: DatabaseTransaction, backupId: number): Promise<void> {
  await sql`
    update backups set damage = coalesce(damage, ${suspectedDamage}), examine_at = now()
    where id = ${backupId} and exists (
      select from backup_packs p join packs k on k.id = p.pack_id where p.backup_id = ${backupId} and k.state = 'lost')
  `.execute(transaction);
}

/** Has all backups examined, for example after the archives have moved. */
export async function examineAllBackups(transaction: DatabaseTransaction): Promise<void> {
  await transaction
    .updateTable("backups")
    .set({ examine_at: sql<Date>`now()` })
    .where("manifest", "is not", null)
    .execute();
}

export interface BackupToExamine extends BackupRef, Pick<FinishedBackup, "manifest"> {
  readonly examineAt: Date;
}

/**
 * Finds backups whose examination is due, longest overdue first. A time too far ahead comes from a wrong clock and is
 * due.
 */
export async function findBackupsToExamine(database: Database, limit: number): Promise<readonly BackupToExamine[]> {
  const { rows } = await sql<BackupToExamine>`
    select id, company_id as "companyId", manifest, examine_at as "examineAt" from backups
    where examine_at is not null and manifest is not null
      and examine_at not between now() and now() + make_interval(days => ${examineAgainDays}::integer)
    order by examine_at, id limit ${limit}`.execute(database);
  return rows;
}

/** Updates `verified_at` of all intact backups from the read times of their packs. */
export async function raiseVerified(database: Database): Promise<void> {
  await sql`
    update backups b set verified_at = least(r.read_at, now())
    from (
      select p.backup_id, min(k.read_at) as read_at from backup_packs p join packs k on k.id = p.pack_id
      group by p.backup_id having bool_and(k.state = 'kept')
    ) r
    where b.id = r.backup_id and b.manifest is not null and b.damage is null and b.verified_at < r.read_at
  `.execute(database);
}
