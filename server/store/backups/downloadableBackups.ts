/** Downloadable backups as rows. Their zips lie beside the database; what is in a link can be told from its row's id. */
import { sql } from "kysely";
import type { Pool } from "pg";
import type { Database, DatabaseTransaction } from "../database.ts";

export interface NewDownloadableBackup {
  readonly id: string;
  readonly companyId: string;
  readonly siteId: string;
  readonly environmentId: string;
  readonly fileName: string;
  readonly expiresAt: Date;
}

export async function insertDownloadableBackup(
  transaction: DatabaseTransaction,
  { id, companyId, siteId, environmentId, fileName, expiresAt }: NewDownloadableBackup,
): Promise<void> {
  const owner = { company_id: companyId, site_id: siteId, environment_id: environmentId };
  await transaction
    .insertInto("downloadable_backups")
    .values({ id, ...owner, file_name: fileName, expires_at: expiresAt })
    .execute();
}

/** How many of the same environment are being made that were asked for before this one. */
export async function countBefore(database: Database, id: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count
    from downloadable_backups own join downloadable_backups other using (environment_id)
    where own.id = ${id} and other.bytes is null and (other.created_at, other.id) < (own.created_at, own.id)`.execute(
    database,
  );
  return rows[0]?.count ?? 0;
}

/** From now on it can be downloaded. False if it is not there any more: its environment was removed. */
export async function finishDownloadableBackup(
  database: Database,
  id: string,
  { bytes, expiresAt }: { readonly bytes: number; readonly expiresAt: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("downloadable_backups")
    .set({ bytes, expires_at: expiresAt })
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** False if its environment was removed, or is being removed just now. */
export async function isOfPresent(database: Database, id: string): Promise<boolean> {
  const row = database
    .selectFrom("downloadable_backups as d")
    .innerJoin("environments as e", "e.id", "d.environment_id")
    .select("d.id")
    .where("d.id", "=", id)
    .where("e.state", "!=", "deleting");
  return (await row.executeTakeFirst()) !== undefined;
}

/** Tolerates that there is none. */
export async function removeDownloadableBackup(database: Database | DatabaseTransaction, id: string): Promise<void> {
  await database.deleteFrom("downloadable_backups").where("id", "=", id).execute();
}

export interface DownloadableBackupFacts {
  readonly id: string;
  readonly fileName: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Null while it is being made. */
  readonly bytes: number | null;
}

/** Null if it is not there. */
export async function findDownloadableBackup(
  database: Database | DatabaseTransaction,
  id: string,
): Promise<DownloadableBackupFacts | null> {
  const row = await database
    .selectFrom("downloadable_backups")
    .select(["id", "file_name as fileName", "created_at as createdAt", "expires_at as expiresAt", "bytes"])
    .where("id", "=", id)
    .executeTakeFirst();
  return row ?? null;
}

/** Removes finished ones whose time is over, and returns their ids. */
export async function removeExpiredDownloadableBackups(database: Database, now: Date): Promise<readonly string[]> {
  const rows = await database
    .deleteFrom("downloadable_backups")
    .where("expires_at", "<", now)
    // One that is being made gets its time when it is there.
    .where("bytes", "is not", null)
    .returning("id")
    .execute();
  return rows.map(({ id }) => id);
}

/** Which of these are there. */
export async function knownDownloadableBackups(
  database: Database,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from downloadable_backups where id = any(${ids}::uuid[])`.execute(database);
  return new Set(rows.map(({ id }) => id));
}

/** Those of the environments, whether they are finished or not. */
export async function downloadableBackupsOf(
  database: Database,
  environmentIds: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from downloadable_backups where environment_id = any(${environmentIds}::uuid[])`.execute(database);
  return rows.map(({ id }) => id);
}

/** A downloadable backup as lists need it, made by the database. Times in milliseconds since 1970. */
export interface DownloadableBackupRecord {
  readonly id: string;
  readonly file_name: string;
  readonly created_at: number;
  readonly expires_at: number;
  readonly is_generation_in_progress: boolean;
}

/** The environment's, newest first, without those whose time is over. Null if there is no such environment to be seen. */
export async function listDownloadableBackups(
  pool: Pool,
  environmentId: string,
): Promise<{ readonly display_name: string; readonly backups: readonly DownloadableBackupRecord[] } | null> {
  const milliseconds = (column: string) => `floor(extract(epoch from b.${column}) * 1000)::bigint`;
  const { rows } = await pool.query<{ display_name: string; backups: DownloadableBackupRecord[] }>({
    name: "list-downloadable-backups",
    text: `select e.display_name, (
        select coalesce(json_agg(json_build_object(
          'id', b.id, 'file_name', b.file_name, 'created_at', ${milliseconds("created_at")},
          'expires_at', ${milliseconds("expires_at")}, 'is_generation_in_progress', b.bytes is null
        ) order by b.created_at desc, b.id), '[]'::json)
        from downloadable_backups b
        where b.environment_id = e.id and (b.bytes is null or b.expires_at > now())) as backups
      from environments e where e.id = $1 and e.state <> 'adding'`,
    values: [environmentId],
  });
  return rows[0] ?? null;
}
