/**
 * Downloadable backups. Their ZIP files are stored outside the database; download links are derived from the row's id.
 */
import { sql } from "kysely";
import type { Pool } from "pg";
import type { Database, DatabaseTransaction } from "../database.ts";

interface NewDownloadableBackup {
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

/** Counts unfinished downloadable backups of the same environment that were requested before this one. */
export async function countBefore(database: Database, id: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count
    from downloadable_backups own join downloadable_backups other using (environment_id)
    where own.id = ${id} and other.bytes is null and (other.created_at, other.id) < (own.created_at, own.id)`.execute(
    database,
  );
  return rows[0]?.count ?? 0;
}

/** Makes it downloadable. Returns false if it was removed with its environment. */
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

/** Returns false if its environment was deleted or is being deleted. */
export async function hasEnvironment(database: Database, id: string): Promise<boolean> {
  const row = database
    .selectFrom("downloadable_backups as d")
    .innerJoin("environments as e", "e.id", "d.environment_id")
    .select("d.id")
    .where("d.id", "=", id)
    .where("e.state", "!=", "deleting");
  return (await row.executeTakeFirst()) !== undefined;
}

/** Removes it if it exists. */
export async function removeDownloadableBackup(database: Database | DatabaseTransaction, id: string): Promise<void> {
  await database.deleteFrom("downloadable_backups").where("id", "=", id).execute();
}

interface DownloadableBackupFacts {
  readonly id: string;
  readonly companyId: string;
  readonly siteId: string;
  readonly fileName: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Null until it is finished. */
  readonly bytes: number | null;
}

/** Returns null if it does not exist. */
export async function findDownloadableBackup(
  database: Database | DatabaseTransaction,
  id: string,
): Promise<DownloadableBackupFacts | null> {
  const row = await database
    .selectFrom("downloadable_backups")
    .select(["id", "company_id as companyId", "site_id as siteId", "file_name as fileName"])
    .select(["created_at as createdAt", "expires_at as expiresAt", "bytes"])
    .where("id", "=", id)
    .executeTakeFirst();
  return row ?? null;
}

/** Removes expired finished ones and returns their ids. */
export async function removeExpiredDownloadableBackups(database: Database, now: Date): Promise<readonly string[]> {
  const rows = await database
    .deleteFrom("downloadable_backups")
    .where("expires_at", "<", now)
    // An unfinished one gets its expiry when it is finished.
    .where("bytes", "is not", null)
    .returning("id")
    .execute();
  return rows.map(({ id }) => id);
}

/** Returns the ids that exist. */
export async function knownDownloadableBackups(
  database: Database,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from downloadable_backups where id = any(${ids}::uuid[])`.execute(database);
  return new Set(rows.map(({ id }) => id));
}

/** Returns the ids for these environments, finished or not. */
export async function downloadableBackupsOf(
  database: Database,
  environmentIds: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from downloadable_backups where environment_id = any(${environmentIds}::uuid[])`.execute(database);
  return rows.map(({ id }) => id);
}

/** A downloadable backup in lists, built by the database. Times are in milliseconds since 1970. */
interface DownloadableBackupRecord {
  readonly id: string;
  readonly file_name: string;
  readonly created_at: number;
  readonly expires_at: number;
  readonly is_generation_in_progress: boolean;
}

/**
 * Lists the environment's unexpired downloadable backups, newest first. Returns null if there is no such environment.
 */
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
