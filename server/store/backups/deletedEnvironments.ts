/**
 * Deleted environments that can be restored: copies of their rows. Each is restored from its newest backup;
 * environments without a backup are not listed.
 */
import { sql } from "kysely";
import type { Pool } from "pg";
import type { Database, DatabaseTransaction } from "../database.ts";
import { type DeletedDomain, domainsToKeep } from "../domains/deletedDomains.ts";
import { isBeingRead } from "./backups.ts";

/** A deleted environment in lists, built as JSON by the database. Times are in milliseconds since 1970. */
export interface DeletedEnvironmentRecord {
  readonly id: string;
  readonly name: string;
  readonly display_name: string;
  readonly is_premium: boolean;
  readonly is_blocked: boolean;
  readonly deleted_at: number;
  readonly deleted_by: string | null;
  readonly restorable_until: number;
  /** The newest backup. */
  readonly backup_id: number;
  readonly backed_up_at: number;
  readonly size_bytes: number;
}

/** SQL expression: a time in milliseconds since 1970. */
export const milliseconds = (column: string) => `(extract(epoch from ${column}) * 1000)::bigint`;

const newestBackup = `
  select b.id, b.bytes, b.created_at from backups b
  where b.environment_id = e.id and b.manifest is not null order by b.id desc limit 1`;

/** SQL query: deleted environments `e` that match `condition`, as a JSON array of `DeletedEnvironmentRecord`. */
export const deletedEnvironmentsWhere = (condition: string, order: string) => `
  select coalesce(json_agg(json_build_object(
    'id', e.id, 'name', e.name, 'display_name', e.display_name, 'is_premium', e.is_premium,
    'is_blocked', exists (select from environment_locks l where l.environment_id = e.id),
    'deleted_at', ${milliseconds("e.deleted_at")}, 'deleted_by', e.deleted_by,
    'restorable_until', ${milliseconds("e.restorable_until")},
    'backup_id', b.id, 'backed_up_at', ${milliseconds("b.created_at")}, 'size_bytes', b.bytes
  ) order by ${order}), '[]'::json)
  from deleted_environments e join lateral (${newestBackup}) b on true
  where ${condition}`;

/** Lists environments of the site that were deleted on their own, newest first. */
export async function listDeletedEnvironments(
  pool: Pool,
  siteId: string,
): Promise<readonly DeletedEnvironmentRecord[]> {
  const condition = "e.site_id = $1 and not e.went_with_site and e.restorable_until > now()";
  const { rows } = await pool.query<{ list: DeletedEnvironmentRecord[] }>({
    name: "list-deleted-environments",
    text: `select (${deletedEnvironmentsWhere(condition, "e.deleted_at desc, e.id")}) as list`,
    values: [siteId],
  });
  return rows[0]?.list ?? [];
}

/** How an environment is deleted: the operation, for how many days it can be restored, and whether with its site. */
export interface Deletion {
  readonly operationId: string;
  readonly restorableDays: number;
  readonly wentWithSite: boolean;
}

/**
 * Copies the rows of environments that have a backup, and keeps that backup as long as they can be restored. Prefers
 * the operation's backup; environments that waited to be rebuilt have an earlier one. The caller then removes the rows.
 */
export async function keepDeletedEnvironments(
  transaction: DatabaseTransaction,
  environmentIds: readonly string[],
  { operationId, restorableDays, wentWithSite }: Deletion,
): Promise<void> {
  await sql`
    with newest as (
      select distinct on (environment_id) id, environment_id from backups
      where environment_id = any(${environmentIds}::uuid[]) and manifest is not null
      order by environment_id, (operation_id = ${operationId}) desc, id desc
    ), extended as (
      update backups b set expires_at = greatest(b.expires_at, now() + make_interval(days => ${restorableDays}::int))
      from newest where b.id = newest.id
      returning b.environment_id
    )
    insert into deleted_environments (id, site_id, company_id, went_with_site, name, display_name, is_premium, runtime,
      php_version, wordpress_version, is_opt_out_from_automatic_php_update, container_id, created_at, domain_id, host, is_wildcard,
      php_threads, php_memory_mb, request_seconds, disk_quota_bytes, deleted_by, restorable_until, denied_ips, is_xml_rpc_on,
      mail_delivery, force_https, redirect_rules, redirect_list, edge_caching, domains)
    select e.id, e.site_id, e.company_id, ${wentWithSite}, e.name, e.display_name, e.is_premium, e.runtime,
      e.php_version, e.wordpress_version, e.is_opt_out_from_automatic_php_update, e.container_id, e.created_at, d.id, d.name, d.is_wildcard,
      e.php_threads, e.php_memory_mb, e.request_seconds, e.disk_quota_bytes, a.user_full_name,
      now() + make_interval(days => ${restorableDays}::int), e.denied_ips, e.is_xml_rpc_on, e.mail_delivery, e.force_https,
      e.redirect_rules, e.redirect_list, e.edge_caching, ${domainsToKeep}
    from environments e
      join domains d on d.environment_id = e.id and d.setup_type = 'temporary'
      join extended on extended.environment_id = e.id
      join operations o on o.id = ${operationId}
      join activity a on a.id = o.activity_id
    where e.id = any(${environmentIds}::uuid[])`.execute(transaction);
}

/** A deleted environment to restore. */
export interface DeletedEnvironmentFacts {
  readonly id: string;
  readonly name: string;
  readonly display_name: string;
  /** Its temporary domain. */
  readonly host: string;
  readonly domain_id: string;
  readonly is_wildcard: boolean;
  /** Its other domains. */
  readonly domains: readonly DeletedDomain[];
  readonly backup_id: number;
}

/**
 * Lists the site's restorable environments, those deleted with it or those deleted on their own. The live one first.
 */
export async function restorableEnvironments(
  transaction: DatabaseTransaction,
  siteId: string,
  wentWithSite: boolean,
): Promise<readonly DeletedEnvironmentFacts[]> {
  const { rows } = await sql<DeletedEnvironmentFacts>`
    select e.id, e.name, e.display_name, e.host, e.domain_id, e.is_wildcard, e.domains, b.id as backup_id
    from deleted_environments e join lateral (${sql.raw(newestBackup)}) b on true
    where e.site_id = ${siteId} and e.went_with_site = ${wentWithSite}
      and (e.went_with_site or e.restorable_until > now())
    order by e.name <> 'live', e.created_at, e.id`.execute(transaction);
  return rows;
}

/**
 * Returns null if the site has no such restorable environment. Locks it, so that no other operation can restore it
 * until the transaction ends.
 */
export async function deletedEnvironmentForRestore(
  transaction: DatabaseTransaction,
  siteId: string,
  environmentId: string,
): Promise<DeletedEnvironmentFacts | null> {
  const locked = transaction
    .selectFrom("deleted_environments")
    .select("id")
    .where("id", "=", environmentId)
    .forUpdate();
  if ((await locked.executeTakeFirst()) === undefined) return null;
  const all = await restorableEnvironments(transaction, siteId, false);
  return all.find(({ id }) => id === environmentId.toLowerCase()) ?? null;
}

/**
 * Inserts the row again with these names and state `adding`. Returns its number, or null if it exists or a name is
 * taken.
 */
export async function reinsertEnvironment(
  transaction: DatabaseTransaction,
  environmentId: string,
  names: { readonly name: string; readonly displayName: string },
): Promise<number | null> {
  const { rows } = await sql<{ number: number }>`
    insert into environments (id, site_id, company_id, name, display_name, is_premium, runtime, php_version, wordpress_version,
      is_opt_out_from_automatic_php_update, container_id, php_threads, php_memory_mb, request_seconds, disk_quota_bytes,
      created_at, denied_ips, is_xml_rpc_on, redirect_rules, redirect_list, edge_caching, mail_delivery,
      force_https, state)
    select id, site_id, company_id, ${names.name}, ${names.displayName}, is_premium, runtime, php_version, wordpress_version,
      is_opt_out_from_automatic_php_update, container_id, php_threads, php_memory_mb, request_seconds, disk_quota_bytes,
      created_at, denied_ips, is_xml_rpc_on, redirect_rules, redirect_list, edge_caching, mail_delivery,
      force_https, 'adding'
    from deleted_environments d where id = ${environmentId} and not exists (
      select from environments e
      where e.id = d.id
        or (e.site_id = d.site_id and (e.name = ${names.name} or lower(e.display_name) = lower(${names.displayName}))))
    on conflict do nothing returning number`.execute(transaction);
  return rows[0]?.number ?? null;
}

/** Returns the ids of environments that exist, or are deleted but can be restored. */
export async function knownEnvironments(database: Database, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from environments where id = any(${ids}::uuid[])
    union select id from deleted_environments where id = any(${ids}::uuid[])`.execute(database);
  return new Set(rows.map(({ id }) => id));
}

/** Removes a restored environment from the deleted ones. */
export async function removeDeletedEnvironment(transaction: DatabaseTransaction, environmentId: string): Promise<void> {
  await transaction.deleteFrom("deleted_environments").where("id", "=", environmentId).execute();
}

/** Forgets a deleted environment with all its backups. */
export async function forgetEnvironment(transaction: DatabaseTransaction, environmentId: string): Promise<void> {
  await removeDeletedEnvironment(transaction, environmentId);
  await transaction.deleteFrom("backups").where("environment_id", "=", environmentId).execute();
}

/**
 * Forgets sites and environments that can no longer be restored, with all their backups, except those that an operation
 * works on or whose backups it reads.
 */
export async function forgetDeleted(database: Database, now: Date): Promise<void> {
  await sql`
    with expired_sites as (
      delete from deleted_sites s
      where s.restorable_until < ${now} and not exists (
        select from deleted_environments e join environment_locks l on l.environment_id = e.id where e.site_id = s.id)
        and not exists (select from backups b where b.site_id = s.id and ${isBeingRead})
      returning s.id
    ), expired_environments as (
      delete from deleted_environments e
      where e.site_id in (select id from expired_sites)
        or (not e.went_with_site and e.restorable_until < ${now}
          and not exists (select from environment_locks l where l.environment_id = e.id)
          and not exists (select from backups b where b.environment_id = e.id and ${isBeingRead}))
      returning e.id
    )
    delete from backups where environment_id in (select id from expired_environments)`.execute(database);
}
