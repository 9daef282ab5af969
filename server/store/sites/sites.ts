/** Sites. A site that is being added is visible only to the operation that adds it. */
import type { ReadPage } from "@sitewright/contract/lists.ts";
import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import type { Pool } from "pg";
import { type BatchedRead, makeBatchedRead } from "../batchedRead.ts";
import type { Database, DatabaseTransaction } from "../database.ts";
import { inPages, type Window } from "../pages.ts";
import {
  type EnvironmentRecord,
  type EnvironmentValues,
  environmentsFrom,
  environmentsOfSite,
} from "./environments.ts";
import { type LabelBrief, labelsOfSite } from "./labels.ts";

export interface SiteRecord {
  readonly id: string;
  readonly company_id: string;
  readonly name: string;
  readonly display_name: string;
  /** Id of the region in which it was created. */
  readonly region: string;
  readonly labels: readonly LabelBrief[];
  readonly environments: readonly EnvironmentRecord[];
}

/** A site as the database returns it. */
type SiteRow = Omit<SiteRecord, "environments" | "labels"> & { readonly environments: string; readonly labels: string };

/** Sites that are kept, to notice that one is unchanged. */
const maxKept = 1_000;

/** Reads one site by its id. As long as a site is unchanged, it is the same object, so that what is made of it can be kept. */
export function makeSiteRead(pool: Pool): BatchedRead<SiteRecord> {
  const kept = new LRUCache<string, { readonly row: SiteRow; readonly site: SiteRecord }>({ max: maxKept });
  const name = "get-sites";
  const text = `select s.id, s.company_id, s.name, s.display_name, s.region, ${labelsOfSite}::text as labels,
      ${environmentsOfSite}::text as environments
    from sites s where s.id = any($1::uuid[]) and s.state <> 'adding'`;

  function siteOf(row: SiteRow): SiteRecord {
    const before = kept.get(row.id);
    if (before !== undefined && isSameSite(before.row, row)) return before.site;
    const site = {
      ...row,
      labels: JSON.parse(row.labels),
      environments: environmentsFrom(JSON.parse(row.environments)),
    };
    kept.set(row.id, { row, site });
    return site;
  }

  const read = makeBatchedRead(async (ids) => {
    const { rows } = await pool.query<SiteRow>({ name, text, values: [ids] });
    return rows.map(siteOf);
  });
  return (id) => read(id.toLowerCase());
}

function isSameSite(one: SiteRow, other: SiteRow): boolean {
  const isSameName = one.name === other.name && one.display_name === other.display_name;
  const isSamePlace = one.company_id === other.company_id && one.region === other.region;
  return isSameName && isSamePlace && one.labels === other.labels && one.environments === other.environments;
}

export interface SiteFilter {
  readonly companyId: string;
  /** Part of the name or display name, ignoring case; null matches all. */
  readonly search: string | null;
  /** Only sites with this label; null for all. */
  readonly labelId: string | null;
  /** Only these sites; null for all. */
  readonly siteIds: readonly string[] | null;
  readonly withEnvironments: boolean;
}

/** Where a site is in lists. */
export interface SitePlace {
  readonly id: string;
  /** As text, because times of the database are more precise than those of JavaScript. */
  readonly created: string;
}

export interface ListedSite extends Omit<SiteRecord, "environments"> {
  /** Null unless requested. */
  readonly environments: readonly EnvironmentRecord[] | null;
}

type ListedRow = Omit<ListedSite, "environments"> & SitePlace & { readonly environments: readonly EnvironmentValues[] };

/** A page, column by column. Null if it is empty. */
interface SiteColumns {
  readonly ids: readonly string[] | null;
  readonly names: readonly string[] | null;
  readonly display_names: readonly string[] | null;
  readonly regions: readonly string[] | null;
  readonly labels: readonly (readonly LabelBrief[])[] | null;
  /** Of the last site. */
  readonly created: string | null;
}

/** A page is 200 kB of JSON if each site has two environments, and 70 kB without them, or up to 280 kB with the longest names. */
const pageSizes = { withEnvironments: 100, alone: 500 };

/** SQL: a page of the sites `s`. */
const pageOfSites = `from sites s
  where s.company_id = $1 and s.state <> 'adding' and (s.created_at, s.id) > ($6::timestamptz, $7::uuid)
    and ($2::text is null or strpos(s.name, lower($2)) > 0 or strpos(lower(s.display_name), lower($2)) > 0)
    and ($3::uuid[] is null or s.id = any($3))
    and ($8::uuid is null or exists (select from site_labels sl where sl.site_id = s.id and sl.label_id = $8))
  order by s.created_at, s.id
  limit $4 offset $5`;

type Page = Window<SitePlace> & { readonly limit: number };

const pageValues = ({ companyId, search, labelId, siteIds }: SiteFilter, { after, limit, offset }: Page) => [
  companyId,
  search,
  siteIds,
  limit,
  offset,
  ...(after ? [after.created, after.id] : start),
  labelId,
];

/** Lists sites in pages, oldest first. */
export function listSites(pool: Pool, filter: SiteFilter, window: Window<SitePlace>): ReadPage<ListedSite> {
  if (!filter.withEnvironments) return listSitesAlone(pool, filter, window);
  return inPages(pageSizes.withEnvironments, window, async (page) => {
    const { rows } = await pool.query<ListedRow>({
      name: "list-sites",
      text: `select s.id, s.company_id, s.name, s.display_name, s.region, s.created_at::text as created,
          ${labelsOfSite} as labels, ${environmentsOfSite} as environments ${pageOfSites}`,
      values: pageValues(filter, page),
    });
    const items = rows.map((row) => ({ ...row, environments: environmentsFrom(row.environments) }));
    return { items, last: items.at(-1) ?? null };
  });
}

function listSitesAlone(pool: Pool, filter: SiteFilter, window: Window<SitePlace>): ReadPage<ListedSite> {
  return inPages(pageSizes.alone, window, async (page) => {
    const { rows } = await pool.query<SiteColumns>({
      name: "list-sites-alone",
      // A page as five values takes two thirds of the time of a row for each site.
      text: `select json_agg(id) as ids, json_agg(name) as names, json_agg(display_name) as display_names,
          json_agg(region) as regions, json_agg(labels) as labels, max(created_at)::text as created
        from (select s.id, s.name, s.display_name, s.region, s.created_at, ${labelsOfSite} as labels ${pageOfSites}) s`,
      values: pageValues(filter, page),
    });
    const { ids, names, display_names, regions, labels, created } = rows[0] ?? {};
    const items = (ids ?? []).map((id, index) => ({
      id,
      company_id: filter.companyId,
      name: names?.[index] ?? "",
      display_name: display_names?.[index] ?? "",
      region: regions?.[index] ?? "",
      labels: labels?.[index] ?? [],
      environments: null,
    }));
    const last = items.at(-1);
    return { items, last: last && created ? { id: last.id, created } : null };
  });
}

/** Before all sites. */
const start = ["-infinity", "00000000-0000-0000-0000-000000000000"];

/** Returns where the site is in lists of these sites, or null if it is not in them. */
export async function findSitePlace(
  pool: Pool,
  { companyId, siteIds }: Pick<SiteFilter, "companyId" | "siteIds">,
  siteId: string,
): Promise<SitePlace | null> {
  const { rows } = await pool.query<SitePlace>({
    name: "place-of-site",
    text: `select id, created_at::text as created from sites
      where id = $1 and company_id = $2 and ($3::uuid[] is null or id = any($3)) and state <> 'adding'`,
    values: [siteId, companyId, siteIds],
  });
  return rows[0] ?? null;
}

export interface NewSite {
  readonly id: string;
  readonly companyId: string;
  readonly name: string;
  readonly displayName: string;
  readonly region: string;
}

/**
 * Inserts a site. Returns false if the name or the display name is taken. Waits for another transaction that inserts
 * the same name, so that exactly one gets it.
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

/** Returns those of `names` that are a site's name, or whose address `<name>.<suffix>` is in use. */
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
 * Returns a site for a site-wide operation, with all its environments in any state, or null. Waits for transactions
 * that add an environment, and prevents new ones until the transaction ends.
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

/**
 * Returns a site to which an environment will be added, or null. `isEnding` means that it is being or will be deleted.
 */
export async function siteForAddition(transaction: DatabaseTransaction, siteId: string) {
  const site = await transaction
    .selectFrom("sites")
    .select(["id", "name", "display_name", "region", "state"])
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

/** Returns those of `siteIds` that are sites of the company. */
export async function knownSiteIds(database: Database, companyId: string, siteIds: readonly string[]) {
  if (siteIds.length === 0) return new Set<string>();
  const rows = await database
    .selectFrom("sites")
    .select("id")
    .where("company_id", "=", companyId)
    .where("id", "in", siteIds)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** Counts the sites and environments of all companies. */
export async function countContent(
  database: Database,
): Promise<{ readonly sites: number; readonly environments: number }> {
  const { rows } = await sql<{ sites: number; environments: number }>`
    select (select count(*)::int from sites) as sites, (select count(*)::int from environments) as environments`.execute(
    database,
  );
  return rows[0] ?? { sites: 0, environments: 0 };
}
