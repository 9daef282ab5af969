/** Sites. A site that is being added is visible only to the operation that adds it. */
import { sql } from "kysely";
import type { Pool } from "pg";
import type { Database, DatabaseTransaction } from "../database.ts";
import { type EnvironmentRecord, environmentsOfSite } from "./environments.ts";

export interface SiteRecord {
  readonly id: string;
  readonly company_id: string;
  readonly name: string;
  readonly display_name: string;
  readonly environments: readonly EnvironmentRecord[];
}

/** Null if there is no such site to be seen. */
export async function getSite(pool: Pool, siteId: string): Promise<SiteRecord | null> {
  const { rows } = await pool.query<SiteRecord>({
    name: "get-site",
    text: `select s.id, s.company_id, s.name, s.display_name, ${environmentsOfSite} as environments
      from sites s where s.id = $1 and s.state <> 'adding'`,
    values: [siteId],
  });
  return rows[0] ?? null;
}

export interface SiteFilter {
  readonly companyId: string;
  /** Part of the name or display name, in whatever case; null = any. */
  readonly search: string | null;
  /** Only these sites; null = all. */
  readonly siteIds: readonly string[] | null;
  readonly withEnvironments: boolean;
  /** Null = all. */
  readonly limit: number | null;
  readonly offset: number;
}

/** Oldest first. `environments` is null unless asked for. */
export async function listSites(
  pool: Pool,
  filter: SiteFilter,
): Promise<(Omit<SiteRecord, "environments"> & { readonly environments: readonly EnvironmentRecord[] | null })[]> {
  const { rows } = await pool.query({
    name: "list-sites",
    text: `select s.id, s.company_id, s.name, s.display_name,
        case when $4 then ${environmentsOfSite} end as environments
      from sites s
      where s.company_id = $1 and s.state <> 'adding'
        and ($2::text is null or strpos(s.name, lower($2)) > 0 or strpos(lower(s.display_name), lower($2)) > 0)
        and ($3::uuid[] is null or s.id = any($3))
      order by s.created_at, s.id
      limit $5 offset $6`,
    values: [filter.companyId, filter.search, filter.siteIds, filter.withEnvironments, filter.limit, filter.offset],
  });
  return rows;
}

export interface NewSite {
  readonly id: string;
  readonly companyId: string;
  readonly name: string;
  readonly displayName: string;
  readonly region: string;
}

/**
 * False if the name or the display name is taken. Waits for another transaction that is taking it, so that
 * of two that want the same name at once exactly one gets it.
 */
export async function insertSite(transaction: DatabaseTransaction, site: NewSite): Promise<boolean> {
  const inserted = await transaction
    .insertInto("sites")
    .values({
      id: site.id,
      company_id: site.companyId,
      name: site.name,
      display_name: site.displayName,
      region: site.region,
      state: "adding",
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
  return inserted !== undefined;
}

export async function removeSite(transaction: DatabaseTransaction, siteId: string): Promise<void> {
  await transaction.deleteFrom("sites").where("id", "=", siteId).execute();
}

export async function isDisplayNameTaken(
  transaction: DatabaseTransaction,
  companyId: string,
  displayName: string,
): Promise<boolean> {
  const taken = await transaction
    .selectFrom("sites")
    .select("id")
    .where("company_id", "=", companyId)
    .where((where) => where(where.fn("lower", ["display_name"]), "=", where.fn("lower", [where.val(displayName)])))
    .executeTakeFirst();
  return taken !== undefined;
}

/** Those of `names` that a site has, or whose address `<name>.<suffix>` leads somewhere. */
export async function findTakenNames(
  transaction: DatabaseTransaction,
  names: readonly string[],
  suffix: string,
): Promise<Set<string>> {
  const ending = `.${suffix}`;
  const sites = await transaction.selectFrom("sites").select("name").where("name", "in", names).execute();
  const domains = await transaction
    .selectFrom("domains")
    .select("name")
    .where(
      "name",
      "in",
      names.map((name) => name + ending),
    )
    .execute();
  return new Set([
    ...sites.map(({ name }) => name),
    ...domains.map(({ name }) => name.slice(0, name.length - ending.length)),
  ]);
}

/**
 * A site as a site-wide operation needs it: with every environment, whatever its state. Who is just adding one is waited
 * for, and nobody can begin to until the transaction ends.
 */
export async function siteForOperation(transaction: DatabaseTransaction, siteId: string) {
  const site = await transaction
    .selectFrom("sites")
    .select(["id", "company_id", "name", "display_name"])
    .where("id", "=", siteId)
    .where("state", "<>", "adding")
    .forUpdate()
    .executeTakeFirst();
  if (!site) return null;
  const environments = await transaction
    .selectFrom("environments as e")
    .innerJoin("domains as d", (join) => join.onRef("d.environment_id", "=", "e.id").on("d.is_primary", "=", true))
    .select(["e.id", "e.number", "e.name", "d.name as host", "d.is_https"])
    .where("e.site_id", "=", siteId)
    .orderBy("e.number")
    .execute();
  return { ...site, environments };
}

/** A site to which an environment is about to be added; `isEnding` where it is being deleted, or will be. */
export async function siteForAddition(transaction: DatabaseTransaction, siteId: string) {
  const site = await transaction
    .selectFrom("sites")
    .select(["id", "name", "display_name", "state"])
    .where("id", "=", siteId)
    .where("state", "<>", "adding")
    .forShare()
    .executeTakeFirst();
  if (!site) return null;
  const deletion = await transaction
    .selectFrom("operations")
    .select("id")
    .where("site_id", "=", siteId)
    .where("kind", "=", "deleteSite")
    .where("state", "in", ["waiting", "running"])
    .executeTakeFirst();
  return { ...site, isEnding: site.state === "deleting" || deletion !== undefined };
}

/** Those of `siteIds` that are the company's sites. */
export async function knownSiteIds(database: Database, companyId: string, siteIds: readonly string[]) {
  const rows = await database
    .selectFrom("sites")
    .select("id")
    .where("company_id", "=", companyId)
    .where("id", "in", siteIds)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** The number of sites and of environments, of all companies. */
export async function countContent(
  database: Database,
): Promise<{ readonly sites: number; readonly environments: number }> {
  const { rows } = await sql<{ sites: number; environments: number }>`
    select (select count(*)::int from sites) as sites, (select count(*)::int from environments) as environments`.execute(
    database,
  );
  return rows[0] ?? { sites: 0, environments: 0 };
}
