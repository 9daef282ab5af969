/** Backups. A backup is finished, and listed, once all its content is in the archives and was found there. */

import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";
import { suspectWhereLost } from "./damage.ts";
import type { BackupRef, FinishedBackup } from "./finishedBackup.ts";

export type BackupType = "manual" | "scheduled" | "system-generated";

export interface NewBackup {
  readonly environmentId: string;
  readonly name: string;
  readonly note: string | null;
  readonly type: BackupType;
  readonly operationId: string;
  /** The environment's address. */
  readonly address: string;
  readonly expiresAt: Date;
}

/** The content of a backup. `manifest` is a sequence of piece names of 32 bytes each. */
interface BackupContent {
  readonly manifest: Buffer;
  readonly files: number;
  readonly bytes: number;
  readonly addedBytes: number;
  /** When all its content was last read instead of reused from the backup before. Omitted or null if unknown. */
  readonly fullyReadAt?: Date | null;
  /** Number of rows of each table. Omitted or null if they were not counted. */
  readonly rowCounts?: Readonly<Record<string, number>> | null;
}

/**
 * Records that the operation starts a backup of the environment. Idempotent. Returns null if the environment no longer
 * exists.
 */
export async function beginBackup(database: Database, backup: NewBackup): Promise<BackupRef | null> {
  const { rows } = await sql<BackupRef>`
    insert into backups (company_id, site_id, environment_id, name, note, type, operation_id, address, expires_at)
    select company_id, site_id, id, ${backup.name}, ${backup.note}, ${backup.type}, ${backup.operationId},
      ${backup.address}, ${backup.expiresAt}
    from environments where id = ${backup.environmentId}
    on conflict (operation_id, environment_id) do update set operation_id = excluded.operation_id
    returning id, company_id as "companyId"`.execute(database);
  return rows[0] ?? null;
}

/** Finishes a backup, so that it is listed. Returns false if it was removed with its environment. */
export async function finishBackup(database: Database, { id }: BackupRef, content: BackupContent): Promise<boolean> {
  const { manifest, files, bytes, addedBytes, fullyReadAt = null, rowCounts = null } = content;
  const counts = rowCounts === null ? null : JSON.stringify(rowCounts);
  const values = { manifest, files, bytes, added_bytes: addedBytes, fully_read_at: fullyReadAt, row_counts: counts };
  return database.transaction().execute(async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable("backups")
      // Earlier damage may concern packs that it no longer needs; it is checked again below.
      .set({ ...values, verified_at: verifiedAt(id), damage: null, examine_at: null })
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    await suspectWhereLost(transaction, id);
    return numUpdatedRows > 0n;
  });
}

/** SQL expression: the earliest of the times at which its packs were last read. */
function verifiedAt(id: number) {
  return sql<Date>`coalesce((
    select least(min(k.read_at), now()) from backup_packs p join packs k on k.id = p.pack_id where p.backup_id = ${id}
  ), now())`;
}

/** Finds the environment's newest finished backup. */
export async function findNewestBackup(database: Database, environmentId: string): Promise<FinishedBackup | null> {
  const [newest] = await findFinished(database, environmentId, null, 1);
  return newest ?? null;
}

/** Returns the id of the backup that the operation created, or null if there is none. */
export async function findBackupId(transaction: DatabaseTransaction, operationId: string): Promise<number | null> {
  const backup = transaction.selectFrom("backups").select("id").where("operation_id", "=", operationId);
  return (await backup.executeTakeFirst())?.id ?? null;
}

/** Returns null if the backup does not exist or is not finished. */
export async function findBackup(database: Database, id: number): Promise<FinishedBackup | null> {
  const [found] = await findFinished(database, null, id, 1);
  return found ?? null;
}

async function findFinished(
  database: Database,
  environmentId: string | null,
  id: number | null,
  limit: number | null,
): Promise<FinishedBackup[]> {
  const { rows } = await sql<FinishedBackup>`
    select id, company_id as "companyId", environment_id as "environmentId", manifest, bytes, address,
      fully_read_at as "fullyReadAt", created_at as "createdAt"
    from backups
    where manifest is not null
      and (${environmentId}::uuid is null or environment_id = ${environmentId})
      and (${id}::integer is null or id = ${id})
    order by id desc limit ${limit}`.execute(database);
  return rows;
}

/** Lists the environment's finished backups, newest first. */
export async function listFinishedBackups(database: Database, environmentId: string): Promise<FinishedBackup[]> {
  return findFinished(database, environmentId, null, null);
}

/** Removes all backups that the operation created. Does nothing if there are none. */
export async function removeBackup(database: Database | DatabaseTransaction, operationId: string): Promise<void> {
  await database.deleteFrom("backups").where("operation_id", "=", operationId).execute();
}

/** Removes a backup if it exists. Packs that no other backup needs are removed from the archives later. */
export async function removeBackupById(database: Database | DatabaseTransaction, id: number): Promise<void> {
  await database.deleteFrom("backups").where("id", "=", id).execute();
}

/** SQL expression: whether a waiting or running operation reads the backup `b`, for any environment. */
export const isBeingRead = sql<boolean>`exists (
  select from operations o
  where o.state in ('waiting', 'running') and coalesce(o.input->>'backupId', o.input->'backup'->>'id') = b.id::text)`;

/**
 * Removes expired finished backups, except while an operation uses the backup or works on its environment, or while the
 * environment waits to be rebuilt. Keeps the newest backup of each existing environment and, if that one is damaged or
 * failed its test restore, also the newest intact one. Returns the number of removed backups.
 */
export async function removeExpiredBackups(database: Database, now: Date): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from backups b
    where b.expires_at < ${now} and b.manifest is not null
      and not exists (select from environment_locks l where l.environment_id = b.environment_id)
      and not exists (select from environments e where e.id = b.environment_id and e.awaits_rebuild)
      and not exists (
        select from operations o where o.environment_id = b.environment_id and o.state in ('waiting', 'running'))
      and not ${isBeingRead}
      and (
        exists (
          select from backups n
          where n.environment_id = b.environment_id and n.id > b.id and n.manifest is not null
            and ((n.damage is null and n.proof_error is null) or b.damage is not null or b.proof_error is not null))
        or not exists (select from environments e where e.id = b.environment_id))`.execute(database);
  return Number(numAffectedRows);
}

/** A backup for an operation on it. Its environment or site may have been deleted. */
export interface BackupFacts {
  readonly id: number;
  readonly name: string;
  readonly created_at: Date;
  readonly company_id: string;
  readonly site_id: string;
  readonly environment_id: string;
  readonly environment_display_name: string;
  readonly site_display_name: string;
  /** Whether the site is deleted but can be restored from its backups. */
  readonly is_of_deleted_site: boolean;
}

/** Returns null if there is no such finished backup. */
export async function backupForOperation(
  database: Database | DatabaseTransaction,
  id: number,
): Promise<BackupFacts | null> {
  const row = await database
    .selectFrom("backups as b")
    .leftJoin("environments as e", "e.id", "b.environment_id")
    .leftJoin("deleted_environments as de", "de.id", "b.environment_id")
    .leftJoin("sites as s", "s.id", "b.site_id")
    .leftJoin("deleted_sites as ds", "ds.id", "b.site_id")
    .where("b.id", "=", id)
    .where("b.manifest", "is not", null)
    .select(["b.id", "b.name", "b.created_at", "b.company_id", "b.site_id", "b.environment_id"])
    .select(sql<boolean>`ds.id is not null`.as("is_of_deleted_site"))
    .select(({ fn, val }) => [
      fn.coalesce("e.display_name", "de.display_name", val("")).as("environment_display_name"),
      fn.coalesce("s.display_name", "ds.display_name", val("")).as("site_display_name"),
    ])
    .executeTakeFirst();
  return row ?? null;
}
