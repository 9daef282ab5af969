/** Deleted sites that can be restored, with the environments deleted with them. */
import { sql } from "kysely";
import type { Pool } from "pg";
import type { DatabaseTransaction } from "../database.ts";
import {
  type DeletedEnvironmentFacts,
  type DeletedEnvironmentRecord,
  type Deletion,
  deletedEnvironmentsWhere,
  keepDeletedEnvironments,
  milliseconds,
  restorableEnvironments,
} from "./deletedEnvironments.ts";

/** A deleted site in lists. Times are in milliseconds since 1970. */
interface DeletedSiteRecord {
  readonly id: string;
  readonly name: string;
  readonly display_name: string;
  readonly region: string;
  readonly deleted_at: number;
  readonly deleted_by: string | null;
  readonly restorable_until: number;
  readonly environments: readonly DeletedEnvironmentRecord[];
}

interface DeletedSiteFilter {
  readonly companyId: string;
  /** Only these sites; null for all. */
  readonly siteIds: readonly string[] | null;
}

/** Lists deleted sites, newest first, except those whose live environment has no backup and can't be restored. */
export async function listDeletedSites(pool: Pool, filter: DeletedSiteFilter): Promise<DeletedSiteRecord[]> {
  const environments = deletedEnvironmentsWhere(
    "e.site_id = s.id and e.went_with_site",
    "e.name <> 'live', e.created_at, e.id",
  );
  const { rows } = await pool.query<DeletedSiteRecord>({
    name: "list-deleted-sites",
    text: `select s.id, s.name, s.display_name, s.region, ${milliseconds("s.deleted_at")} as deleted_at, s.deleted_by,
        ${milliseconds("s.restorable_until")} as restorable_until, (${environments}) as environments
      from deleted_sites s
      where s.company_id = $1 and ($2::uuid[] is null or s.id = any($2)) and s.restorable_until > now()
        and exists (select from deleted_environments e join backups b on b.environment_id = e.id
          where e.site_id = s.id and e.went_with_site and e.name = 'live' and b.manifest is not null)
      order by s.deleted_at desc, s.id`,
    values: [filter.companyId, filter.siteIds],
  });
  return rows;
}

/** Copies the rows of the site and its backed-up environments, so that they can be restored. */
export async function keepDeletedSite(
  transaction: DatabaseTransaction,
  siteId: string,
  deletion: Omit<Deletion, "wentWithSite">,
): Promise<void> {
  const environments = transaction.selectFrom("environments").select("id").where("site_id", "=", siteId);
  const ids = (await environments.execute()).map(({ id }) => id);
  await keepDeletedEnvironments(transaction, ids, { ...deletion, wentWithSite: true });
  await sql`
    insert into deleted_sites (id, company_id, name, display_name, region, created_at, deleted_by, restorable_until)
    select s.id, s.company_id, s.name, s.display_name, s.region, s.created_at, e.deleted_by, e.restorable_until
    from sites s join deleted_environments e on e.site_id = s.id and e.went_with_site and e.name = 'live'
    where s.id = ${siteId}`.execute(transaction);
}

/** A deleted site to restore, with its restorable environments, the live one first. */
export interface DeletedSiteFacts {
  readonly id: string;
  readonly company_id: string;
  readonly name: string;
  readonly display_name: string;
  readonly environments: readonly DeletedEnvironmentFacts[];
}

/**
 * Returns null if there is no such restorable site. Locks it, so that no other operation can restore it until the
 * transaction ends.
 */
export async function deletedSiteForRestore(
  transaction: DatabaseTransaction,
  siteId: string,
): Promise<DeletedSiteFacts | null> {
  const site = await transaction
    .selectFrom("deleted_sites")
    .select(["id", "company_id", "name", "display_name"])
    .where("id", "=", siteId)
    .where("restorable_until", ">", sql<Date>`now()`)
    .forUpdate()
    .executeTakeFirst();
  if (!site) return null;
  const environments = await restorableEnvironments(transaction, site.id, true);
  return environments[0]?.name === "live" ? { ...site, environments } : null;
}

/** Inserts the row again with these names and state `adding`. Returns false if a name is taken. */
export async function reinsertSite(
  transaction: DatabaseTransaction,
  siteId: string,
  names: { readonly name: string; readonly displayName: string },
): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`
    insert into sites (id, company_id, name, display_name, region, created_at, state)
    select id, company_id, ${names.name}, ${names.displayName}, region, created_at, 'adding'
    from deleted_sites where id = ${siteId}
    on conflict do nothing returning id`.execute(transaction);
  return rows.length === 1;
}

/** Removes a restored site from the deleted ones. Environments that were deleted before the site stay restorable. */
export async function removeDeletedSite(transaction: DatabaseTransaction, siteId: string): Promise<void> {
  await transaction.deleteFrom("deleted_sites").where("id", "=", siteId).execute();
  await transaction
    .deleteFrom("deleted_environments")
    .where("site_id", "=", siteId)
    .where("went_with_site", "=", true)
    .execute();
}

/** Forgets a deleted site with its deleted environments and all backups. */
export async function forgetSite(transaction: DatabaseTransaction, siteId: string): Promise<void> {
  await transaction.deleteFrom("deleted_sites").where("id", "=", siteId).execute();
  await transaction.deleteFrom("deleted_environments").where("site_id", "=", siteId).execute();
  await transaction.deleteFrom("backups").where("site_id", "=", siteId).execute();
}

/** Whether the site exists, including sites that are being added. */
export async function siteExists(transaction: DatabaseTransaction, siteId: string): Promise<boolean> {
  const row = await transaction.selectFrom("sites").select("id").where("id", "=", siteId).executeTakeFirst();
  return row !== undefined;
}
