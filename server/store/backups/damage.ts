/**
 * What is known to be wrong with backups in the archives, and by when all that they need was last read. Every moment is told
 * by the database's clock.
 */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";
import type { BackupRef, FinishedBackup } from "./finishedBackup.ts";

/** What is said of a backup until it has been looked at what exactly it lacks. */
export const suspicion = "Something that it needs is missing or damaged in the archives. It is being looked at what.";

/** After so long a damaged backup is looked at again: what was missing may have been restored. */
const daysUntilExaminedAgain = 1;

/** `damage` is a sentence. Looked at again at once, or after a while. Tolerates that the backup is gone. */
export async function noteDamage(
  database: Database,
  backupId: number,
  { damage, again }: { readonly damage: string; readonly again: "at once" | "later" },
): Promise<void> {
  const days = again === "at once" ? 0 : daysUntilExaminedAgain;
  const examine_at = sql<Date>`now() + make_interval(days => ${days}::integer)`;
  await database.updateTable("backups").set({ damage, examine_at }).where("id", "=", backupId).execute();
}

/**
 * Everything that it needs can be read. What a proof has said of missing content does not hold any more, and it may be proven
 * again. `since`: what has been found of it later stays. Tolerates that the backup is gone.
 */
export async function noteWhole(
  database: Database,
  backupId: number,
  { since, proofsBegin }: { readonly since: Date; readonly proofsBegin: string },
): Promise<void> {
  await sql`
    update backups set damage = null, examine_at = null,
      last_proof = case when starts_with(proof_error, ${proofsBegin}) then null else last_proof end,
      proof_error = case when starts_with(proof_error, ${proofsBegin}) then null else proof_error end
    where id = ${backupId} and date_trunc('milliseconds', examine_at) = ${since}`.execute(database);
}

/** Marks a backup that is being finished where a pack that it needs was lost meanwhile. */
export async function suspectWhereLost(transaction: DatabaseTransaction, backupId: number): Promise<void> {
  await sql`
    update backups set damage = coalesce(damage, ${suspicion}), examine_at = now()
    where id = ${backupId} and exists (
      select from backup_packs p join packs k on k.id = p.pack_id where p.backup_id = ${backupId} and k.state = 'lost')
  `.execute(transaction);
}

/** Everything that was backed up may be elsewhere now. */
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

/** Those that are due, the longest first. A moment that is farther off than any that was set is one of a wrong clock. */
export async function findBackupsToExamine(database: Database, limit: number): Promise<readonly BackupToExamine[]> {
  const { rows } = await sql<BackupToExamine>`
    select id, company_id as "companyId", manifest, examine_at as "examineAt" from backups
    where examine_at is not null and manifest is not null
      and examine_at not between now() and now() + make_interval(days => ${daysUntilExaminedAgain}::integer)
    order by examine_at, id limit ${limit}`.execute(database);
  return rows;
}

/** Notes of every backup of which nothing is wrong that all it needs was read by then. */
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
