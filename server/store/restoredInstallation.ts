/**
 * Adapts a database that was restored from a backup of the installation on a machine without its environments:
 * unfinished operations have failed, and each environment waits to be rebuilt from its newest backup.
 */
import { sql } from "kysely";
import type pg from "pg";
import type { Database, DatabaseTransaction } from "./database.ts";

export interface Restore {
  readonly id: string;
  /** When the backup was taken. */
  readonly madeAt: Date;
}

const interrupted =
  "The installation was restored from a backup that was taken while this operation was running. Start it again.";

/** Runs in the transaction that restores the rows, with the newest schema. */
export async function adaptRestoredDatabase(client: pg.ClientBase, { id, madeAt }: Restore): Promise<void> {
  await failInterrupted(client);
  // Remove what was still being added; keep what was still being deleted.
  await client.query("delete from sites where state = 'adding'");
  await client.query("delete from environments where state = 'adding'");
  await client.query("update sites set state = 'live'");
  await client.query("update environments set state = 'restoring', awaits_rebuild = true, is_frozen = false");
  await client.query("delete from backups where manifest is null");
  // The ZIP files were not part of the backup.
  await client.query("delete from downloadable_backups");
  // These requests will never complete.
  await client.query("delete from idempotency_keys where status is null");
  // Nothing has happened: the rows were only loaded.
  await client.query("delete from events");
  await client.query("insert into restores (id, made_at) values ($1, $2)", [id, madeAt]);
}

async function failInterrupted(client: pg.ClientBase): Promise<void> {
  await client.query(
    `update activity set is_done = true, has_failed = true, public_error = $1, is_sealed = false
     where not is_done and id in (select activity_id from operations where state in ('waiting', 'running'))`,
    [interrupted],
  );
  await client.query("delete from environment_locks");
  await client.query("delete from operation_wants");
  await client.query(
    `update operations set state = 'failed', step = null, secret = null, result = null, public_error = $1,
       finished_at = now()
     where state in ('waiting', 'running')`,
    [interrupted],
  );
}

/** When the backup of restore `id` was taken, or null if the database does not contain that restore. */
export async function findRestore(client: pg.ClientBase, id: string): Promise<Date | null> {
  const { rows } = await client.query<{ table: string | null }>("select to_regclass('restores')::text as table");
  if (rows[0]?.table == null) return null;
  const found = await client.query<{ made_at: Date }>("select made_at from restores where id = $1", [id]);
  return found.rows[0]?.made_at ?? null;
}

/** An environment with its newest backup. */
export interface EnvironmentBackup {
  readonly environmentId: string;
  readonly companyId: string;
  readonly site: string;
  readonly environment: string;
  /** The newest finished backup, or null if there is none. */
  readonly backupId: number | null;
  readonly madeAt: Date | null;
}

/** Lists all environments with their newest backups. */
export async function listNewestBackups(client: pg.ClientBase): Promise<EnvironmentBackup[]> {
  const { rows } = await client.query<EnvironmentBackup>(
    `select e.id as "environmentId", e.company_id as "companyId", s.display_name as site,
       e.display_name as environment, b.id as "backupId", b.created_at as "madeAt"
     from environments e join sites s on s.id = e.site_id
       left join lateral (
         select id, created_at from backups
         where environment_id = e.id and manifest is not null order by id desc limit 1
       ) b on true
     where e.state <> 'adding' order by s.display_name, e.number`,
  );
  return rows;
}

/**
 * Lists environments that wait to be rebuilt, live ones first, without those that are being rebuilt or whose rebuild
 * failed after `failedSince`. Returns at most `atOnce` minus the number of running rebuilds.
 */
export async function listAwaitingRebuild(
  database: Database,
  { failedSince, atOnce }: { readonly failedSince: Date; readonly atOnce: number },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with busy as (
      select count(*) as number from operations where kind = 'rebuildEnvironment' and state in ('waiting', 'running')
    )
    select e.id from environments e
    where e.awaits_rebuild and e.state = 'restoring'
      and not exists (select from environment_locks l where l.environment_id = e.id)
      and not exists (
        select from operations o
        where o.environment_id = e.id and o.kind = 'rebuildEnvironment'
          and (o.state in ('waiting', 'running') or (o.state = 'failed' and o.finished_at > ${failedSince})))
    order by (e.name <> 'live'), e.number
    limit greatest(0, ${atOnce}::bigint - (select number from busy))`.execute(database);
  return rows.map(({ id }) => id);
}

/** Whether any of the environments waits to be rebuilt. */
export async function areAwaitingRebuild(
  transaction: DatabaseTransaction,
  environmentIds: readonly string[],
): Promise<boolean> {
  if (environmentIds.length === 0) return false;
  const row = await transaction
    .selectFrom("environments")
    .select("id")
    .where("id", "in", environmentIds)
    .where("awaits_rebuild", "=", true)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether any of the environments waits to be rebuilt but has no backup. */
export async function isAnyWithoutBackup(
  transaction: DatabaseTransaction,
  environmentIds: readonly string[],
): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`
    select e.id from environments e
    where e.id = any(${environmentIds}::uuid[]) and e.awaits_rebuild
      and not exists (select from backups b where b.environment_id = e.id and b.manifest is not null)
    limit 1`.execute(transaction);
  return rows.length > 0;
}

/** Marks an environment as waiting to be rebuilt, or as rebuilt. Does nothing if it is gone. */
export async function setAwaitsRebuild(database: Database, environmentId: string, awaits: boolean): Promise<void> {
  await database
    .updateTable("environments")
    .set({ awaits_rebuild: awaits, state: awaits ? "restoring" : "serving" })
    .where("id", "=", environmentId)
    .execute();
}

export interface ServedOfCompany {
  readonly companyId: string;
  readonly ownerId: string;
  /** With display names such as `Harbour / Live`. */
  readonly environments: readonly { readonly id: string; readonly name: string }[];
}

/** Lists served environments by company, each with one of its owners. */
export async function listServedByCompany(database: Database): Promise<ServedOfCompany[]> {
  const { rows } = await sql<ServedOfCompany>`
    select e.company_id as "companyId",
      (select u.id from users u where u.company_id = e.company_id and u.role = 'owner'
        order by u.created_at, u.id limit 1) as "ownerId",
      json_agg(json_build_object('id', e.id, 'name', s.display_name || ' / ' || e.display_name)
        order by s.display_name, e.number) as environments
    from environments e join sites s on s.id = e.site_id
    where e.state = 'serving'
    group by e.company_id order by e.company_id`.execute(database);
  return rows;
}
