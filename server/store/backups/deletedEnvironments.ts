/**
 * Environments that were deleted and can be restored: what their rows were. Each is restored from the newest of its
 * backups that there still is, and one that has none is to be seen no more.
 */
import { sql } from "kysely";
import type { Pool } from "pg";
import type { Database, DatabaseTransaction } from "../database.ts";
import { type DeletedDomain, domainsToKeep } from "../domains/deletedDomains.ts";
import { isBeingRead } from "./backups.ts";

/** A deleted environment as JSON, made by the database. Times in milliseconds since 1970. */
export interface DeletedEnvironmentRecord {
  readonly id: string;
  readonly name: string;
  readonly display_name: string;
  readonly is_premium: boolean;
  readonly is_blocked: boolean;
  readonly deleted_at: number;
  readonly deleted_by: string | null;
  readonly restorable_until: number;
  /** Of the backup. */
  readonly backup_id: number;
  readonly backed_up_at: number;
  readonly size_bytes: number;
}

/** SQL expression. */
export const milliseconds = (column: string) => `(extract(epoch from ${column}) * 1000)::bigint`;

const newestBackup = `
  select b.id, b.bytes, b.created_at from backups b
  where b.environment_id = e.id and b.manifest is not null order by b.id desc limit 1`;

/** SQL: deleted environments `e` where `condition` holds, as one JSON array of `DeletedEnvironmentRecord`. */
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

/** Those that were deleted by themselves and not with their site, newest first. */
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

/** How an environment went: by which operation, for how many days it can be restored, and whether its site went with it. */
export interface Deletion {
  readonly operationId: string;
  readonly undeleteDays: number;
  readonly wentWithSite: boolean;
}

/**
 * Keeps what their rows are, of those that have a backup: the operation's, or, where nothing was on this machine's disk yet,
 * an earlier one. It stays for as long as they can be restored, whatever time it had. The rows are to be removed afterwards.
 */
export async function keepDeletedEnvironments(
  transaction: DatabaseTransaction,
  environmentIds: readonly string[],
  { operationId, undeleteDays, wentWithSite }: Deletion,
): Promise<void> {
  await sql`
    with newest as (
      select distinct on (environment_id) id, environment_id from backups
      where environment_id = any(${environmentIds}::uuid[]) and manifest is not null
      order by environment_id, (operation_id = ${operationId}) desc, id desc
    ), kept as (
      update backups b set expires_at = greatest(b.expires_at, now() + make_interval(days => ${undeleteDays}::int))
      from newest where b.id = newest.id
      returning b.environment_id
    )
    insert into deleted_environments (id, site_id, company_id, went_with_site, name, display_name, is_premium, php_version,
      wordpress_version, is_opt_out_from_automatic_php_update, container_id, created_at, domain_id, host, is_wildcard,
      php_threads, php_memory_mb, request_seconds, disk_quota_bytes, deleted_by, restorable_until, denied_ips,
      mail_delivery, force_https, redirect_rules, redirect_list, edge_caching, domains)
    select e.id, e.site_id, e.company_id, ${wentWithSite}, e.name, e.display_name, e.is_premium, e.php_version,
      e.wordpress_version, e.is_opt_out_from_automatic_php_update, e.container_id, e.created_at, d.id, d.name, d.is_wildcard,
      e.php_threads, e.php_memory_mb, e.request_seconds, e.disk_quota_bytes, a.user_full_name,
      now() + make_interval(days => ${undeleteDays}::int), e.denied_ips, e.mail_delivery, e.force_https,
      e.redirect_rules, e.redirect_list, e.edge_caching, ${domainsToKeep}
    from environments e
      join domains d on d.environment_id = e.id and d.setup_type = 'temporary'
      join kept on kept.environment_id = e.id
      join operations o on o.id = ${operationId}
      join activity a on a.id = o.activity_id
    where e.id = any(${environmentIds}::uuid[])`.execute(transaction);
}

/** A deleted environment as its restore needs it. */
export interface DeletedEnvironmentFacts {
  readonly id: string;
  readonly name: string;
  readonly display_name: string;
  /** The name that it had from the installation. */
  readonly host: string;
  readonly domain_id: string;
  readonly is_wildcard: boolean;
  /** Those of its own. */
  readonly domains: readonly DeletedDomain[];
  readonly backup_id: number;
}

/** Those of the site that come back with it as long as it can, or that can be restored by themselves. The live one first. */
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
 * Null if the site has no such environment that can be restored. Nobody else can begin to restore it until the
 * transaction ends.
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

/** Inserts the row again, under these names, as being added. Null if the site has one of them, or it is there already. */
export async function insertEnvironmentAgain(
  transaction: DatabaseTransaction,
  environmentId: string,
  names: { readonly name: string; readonly displayName: string },
): Promise<number | null> {
  const { rows } = await sql<{ number: number }>`
    insert into environments (id, site_id, company_id, name, display_name, is_premium, php_version, wordpress_version,
      is_opt_out_from_automatic_php_update, container_id, php_threads, php_memory_mb, request_seconds, disk_quota_bytes,
      created_at, denied_ips, redirect_rules, redirect_list, edge_caching, mail_delivery,
      force_https, state)
    select id, site_id, company_id, ${names.name}, ${names.displayName}, is_premium, php_version, wordpress_version,
      is_opt_out_from_automatic_php_update, container_id, php_threads, php_memory_mb, request_seconds, disk_quota_bytes,
      created_at, denied_ips, redirect_rules, redirect_list, edge_caching, mail_delivery,
      force_https, 'adding'
    from deleted_environments where id = ${environmentId}
    on conflict do nothing returning number`.execute(transaction);
  return rows[0]?.number ?? null;
}

/** Those of the environments that are there, or were deleted and can be restored. */
export async function knownEnvironments(database: Database, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from environments where id = any(${ids}::uuid[])
    union select id from deleted_environments where id = any(${ids}::uuid[])`.execute(database);
  return new Set(rows.map(({ id }) => id));
}

/** It is there again. */
export async function removeDeletedEnvironment(transaction: DatabaseTransaction, environmentId: string): Promise<void> {
  await transaction.deleteFrom("deleted_environments").where("id", "=", environmentId).execute();
}

/** Forgets an environment and removes every backup of it. */
export async function forgetEnvironment(transaction: DatabaseTransaction, environmentId: string): Promise<void> {
  await removeDeletedEnvironment(transaction, environmentId);
  await transaction.deleteFrom("backups").where("environment_id", "=", environmentId).execute();
}

/**
 * Forgets environments, and sites with what was deleted of them, that can't be restored any more, together with all
 * their backups; except where an operation may be at work with one, or reads one of those for another environment.
 */
export async function forgetDeleted(database: Database, now: Date): Promise<void> {
  await sql`
    with over_sites as (
      delete from deleted_sites s
      where s.restorable_until < ${now} and not exists (
        select from deleted_environments e join environment_locks l on l.environment_id = e.id where e.site_id = s.id)
        and not exists (select from backups b where b.site_id = s.id and ${isBeingRead})
      returning s.id
    ), over_environments as (
      delete from deleted_environments e
      where e.site_id in (select id from over_sites)
        or (not e.went_with_site and e.restorable_until < ${now}
          and not exists (select from environment_locks l where l.environment_id = e.id)
          and not exists (select from backups b where b.environment_id = e.id and ${isBeingRead}))
      returning e.id
    )
    delete from backups where environment_id in (select id from over_environments)`.execute(database);
}
