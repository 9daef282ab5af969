/**
 * Plugins and themes of a whole company: each once, with the environments that have it.
 *
 * A company may have a thousand environments that all have the same plugins: a page of twenty is twenty thousand entries then.
 * So names of environments come once, in one list, and an entry has the place in that list; what is said of an entry by yes
 * and no is one number; and each column of the entries comes as one array, which PostgreSQL writes several times as quickly as
 * objects.
 */
import type { Pool } from "pg";
import type { PackageKind, UpdateStatus } from "./database.ts";

export interface CompanyPackagesQuery {
  readonly companyId: string;
  readonly kind: PackageKind;
  /** Null: all of the company's. */
  readonly siteIds: readonly string[] | null;
  /** Part of the slug or the title, in whatever case; null: any. */
  readonly search: string | null;
  readonly status: "active" | "inactive" | null;
  readonly column: "vulnerable" | "updatesAvailable" | null;
  readonly field: "name" | "environments" | "updates";
  readonly order: "ascend" | "descend";
  /** Null: all. */
  readonly limit: number | null;
  readonly offset: number;
}

/** One environment that has it. */
export interface PackageEntry {
  readonly id: string;
  readonly site_display_name: string;
  readonly display_name: string;
  readonly version: string;
  readonly update_version: string | null;
  readonly update_status: UpdateStatus | null;
  readonly is_active: boolean;
  readonly is_vulnerable: boolean;
  readonly is_update_vulnerable: boolean;
  readonly is_auto_updated: boolean;
}

interface Described {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly latest_version: string;
  readonly is_latest_version_vulnerable: boolean;
  readonly environment_count: number;
  readonly update_count: number;
}

export interface CompanyPackage extends Described {
  /** By site and environment. */
  readonly environments: readonly PackageEntry[];
}

interface Counted {
  readonly total: number;
  /** When that of the environments was read which was read longest ago; null: none was. */
  readonly read_at: Date | null;
}

export interface CompanyPackages extends Counted {
  readonly items: readonly CompanyPackage[];
}

/** Entries, one array for each column. */
interface Columns {
  /** Places in the list of environments, from 1 on. */
  readonly places: readonly number[];
  readonly flags: readonly number[];
  readonly versions: readonly string[];
  readonly update_versions: readonly (string | null)[];
  readonly update_statuses: readonly (UpdateStatus | null)[];
}

interface Found extends Counted {
  /** Id, name of the site, and name. */
  readonly environments: readonly (readonly [id: string, site: string, name: string])[];
  readonly items: readonly (Described & Columns)[];
}

const orders = { name: "name", environments: "environment_count", updates: "update_count" } as const;
const directions = { ascend: "asc", descend: "desc" } as const;

const flagged = ["is_active", "is_vulnerable", "is_update_vulnerable", "is_auto_updated"] as const;
const flags = flagged.map((name, at) => `p.${name}::int * ${2 ** at}`).join(" + ");

const mineOf = (table: string) => `${table}.company_id = $1 and ($2::uuid[] is null or ${table}.site_id = any($2))`;

/** Only what is filtered by is looked at: there may be tens of thousands of rows. */
function filtersOf({ search, status, column }: CompanyPackagesQuery): string {
  const filters = [
    ...(search === null
      ? []
      : ["(strpos(lower(name), lower($6)) > 0 or bool_or(strpos(lower(title), lower($6)) > 0))"]),
    ...(status === null ? [] : [status === "active" ? "bool_or(is_active)" : "not bool_and(is_active)"]),
    ...(column === "vulnerable" ? ["bool_or(is_vulnerable)"] : []),
    ...(column === "updatesAvailable" ? ["count(update_version) > 0"] : []),
  ];
  return filters.length === 0 ? "" : `having ${filters.join(" and ")}`;
}

function textOf(query: CompanyPackagesQuery): string {
  const by = `${orders[query.field]} ${directions[query.order]}, name`;
  return `
    with items as (
      select name, count(*)::int as environment_count, count(update_version)::int as update_count
      from packages p where ${mineOf("p")} and kind = $3 group by name ${filtersOf(query)}
    ), page as materialized (
      select *, row_number() over (order by ${by}) as place from items order by ${by} limit $4 offset $5
    ), ours as materialized (
      select e.id, e.display_name, s.display_name as site, row_number() over (order by s.created_at, s.id, e.number)::int as place
      from environments e join sites s on s.id = e.site_id where ${mineOf("e")}
    ), entries as (
      select name, json_agg(place) as places, json_agg(flags) as flags, json_agg(version) as versions,
        json_agg(update_version) as update_versions, json_agg(update_status) as update_statuses
      from (
        select p.name, o.place, ${flags} as flags, p.version, p.update_version, p.update_status
        from packages p join ours o on o.id = p.environment_id
        where ${mineOf("p")} and p.kind = $3 and p.name in (select name from page)
        order by p.name, o.place
      ) sorted group by name
    )
    select (select count(*)::int from items) as total,
      (select min(packages_read_at) from environments e
        where ${mineOf("e")} and state <> 'adding' and wordpress_version is not null) as read_at,
      (select coalesce(json_agg(json_build_array(id, site, display_name) order by place), '[]') from ours) as environments,
      (select coalesce(json_agg(one order by place), '[]') from (
        select g.*, n.title, n.description, coalesce(f.version, n.version) as latest_version,
          case when f.version is null then n.is_vulnerable else f.is_vulnerable end as is_latest_version_vulnerable,
          a.places, a.flags, a.versions, a.update_versions, a.update_statuses
        from page g join entries a on a.name = g.name
        cross join lateral (
          select title, description, version, file, is_vulnerable from packages p
          where ${mineOf("p")} and kind = $3 and p.name = g.name order by version_key desc, environment_id limit 1) n
        left join package_offers f on f.kind = $3 and f.file = n.file
      ) one) as items`;
}

function nameOf({ field, order, search, status, column }: CompanyPackagesQuery): string {
  return ["company-packages", field, order, search === null ? "" : "search", status, column].join("-");
}

export async function listCompanyPackages(pool: Pool, query: CompanyPackagesQuery): Promise<CompanyPackages> {
  const { companyId, kind, siteIds, search, limit, offset } = query;
  const { rows } = await pool.query<Found>({
    name: nameOf(query),
    text: textOf(query),
    values: [companyId, siteIds, kind, limit, offset, ...(search === null ? [] : [search])],
  });
  const [found] = rows;
  if (found === undefined) throw new Error("PostgreSQL gave no row");
  const { environments, items, ...counted } = found;
  return { ...counted, items: items.map((item) => ({ ...item, environments: entriesOf(item, environments) })) };
}

function entriesOf(columns: Columns, environments: Found["environments"]): PackageEntry[] {
  return columns.places.flatMap((place, at) => {
    const [version, said, environment] = [columns.versions[at], columns.flags[at], environments[place - 1]];
    if (version === undefined || said === undefined || environment === undefined) return [];
    const [id, site_display_name, display_name] = environment;
    return {
      id,
      site_display_name,
      display_name,
      version,
      update_version: columns.update_versions[at] ?? null,
      update_status: columns.update_statuses[at] ?? null,
      is_active: (said & 1) !== 0,
      is_vulnerable: (said & 2) !== 0,
      is_update_vulnerable: (said & 4) !== 0,
      is_auto_updated: (said & 8) !== 0,
    };
  });
}
