/** Backups as rows. One is shown when everything that it needs is in the archives and was found there. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "./database.ts";

export type BackupType = "manual" | "scheduled" | "system-generated";

export interface NewBackup {
  readonly environmentId: string;
  readonly name: string;
  readonly note: string | null;
  readonly type: BackupType;
  readonly operationId: string;
  /** Where the environment is. */
  readonly address: string;
  readonly expiresAt: Date;
}

export interface BackupRef {
  readonly id: number;
  readonly companyId: string;
}

/** Names of pieces of 32 bytes each, one after the other. */
export interface BackupContent {
  readonly manifest: Buffer;
  readonly files: number;
  readonly bytes: number;
  readonly addedBytes: number;
}

/** A backup that can be restored. */
export interface FinishedBackup extends BackupRef {
  readonly environmentId: string;
  readonly manifest: Buffer;
  readonly bytes: number;
  readonly address: string;
}

/**
 * Notes that the operation makes a backup; again for the same operation it changes nothing. Null where the environment is
 * not there any more.
 */
export async function beginBackup(database: Database, backup: NewBackup): Promise<BackupRef | null> {
  const { rows } = await sql<BackupRef>`
    insert into backups (company_id, site_id, environment_id, name, note, type, operation_id, address, expires_at)
    select company_id, site_id, id, ${backup.name}, ${backup.note}, ${backup.type}, ${backup.operationId},
      ${backup.address}, ${backup.expiresAt}
    from environments where id = ${backup.environmentId}
    on conflict (operation_id) do update set operation_id = excluded.operation_id
    returning id, company_id as "companyId"`.execute(database);
  return rows[0] ?? null;
}

/** From now on it is shown. */
export async function finishBackup(database: Database, { id }: BackupRef, content: BackupContent): Promise<void> {
  const { manifest, files, bytes, addedBytes } = content;
  await database
    .updateTable("backups")
    .set({ manifest, files, bytes, added_bytes: addedBytes, verified_at: new Date() })
    .where("id", "=", id)
    .execute();
}

/** The newest one of the environment. */
export async function findNewestBackup(database: Database, environmentId: string): Promise<FinishedBackup | null> {
  return findFinished(database, environmentId, null);
}

/** Null also where it is not finished. */
export async function findBackup(database: Database, id: number): Promise<FinishedBackup | null> {
  return findFinished(database, null, id);
}

async function findFinished(
  database: Database,
  environmentId: string | null,
  id: number | null,
): Promise<FinishedBackup | null> {
  const { rows } = await sql<FinishedBackup>`
    select id, company_id as "companyId", environment_id as "environmentId", manifest, bytes, address
    from backups
    where manifest is not null
      and (${environmentId}::uuid is null or environment_id = ${environmentId})
      and (${id}::integer is null or id = ${id})
    order by id desc limit 1`.execute(database);
  return rows[0] ?? null;
}

/** Tolerates that there is none. */
export async function removeBackup(database: Database | DatabaseTransaction, operationId: string): Promise<void> {
  await database.deleteFrom("backups").where("operation_id", "=", operationId).execute();
}

/** Tolerates that there is none. What it needed is removed from the archives later, unless another one needs it. */
export async function removeBackupById(database: Database | DatabaseTransaction, id: number): Promise<void> {
  await database.deleteFrom("backups").where("id", "=", id).execute();
}

/** Removes finished backups that are kept no longer. Gives how many. */
export async function removeExpiredBackups(database: Database, now: Date): Promise<number> {
  const { numDeletedRows } = await database
    .deleteFrom("backups")
    .where("expires_at", "<", now)
    .where("manifest", "is not", null)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
