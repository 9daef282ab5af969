/** Plugins and themes of a whole company: each once, with the environments that have it. */
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

export interface CompanyPackage {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly latest_version: string;
  readonly is_latest_version_vulnerable: boolean;
  readonly environment_count: number;
  readonly update_count: number;
  /** By site and environment. One array for each column: objects take PostgreSQL twice as long. */
  readonly environments: {
    readonly id: readonly string[];
    readonly site_display_name: readonly string[];
    readonly display_name: readonly string[];
    readonly is_active: readonly boolean[];
    readonly version: readonly string[];
    readonly is_vulnerable: readonly boolean[];
    readonly update_version: readonly (string | null)[];
    readonly is_update_vulnerable: readonly boolean[];
    readonly update_status: readonly (UpdateStatus | null)[];
    readonly is_auto_updated: readonly boolean[];
  };
}

export interface CompanyPackages {
  readonly total: number;
  /** When that of the environments was read which was read longest ago; null: none was. */
  readonly read_at: Date | null;
  readonly items: readonly CompanyPackage[];
}

const orders = { name: "name", environments: "environment_count", updates: "update_count" } as const;
const directions = { ascend: "asc", descend: "desc" } as const;

const shown = [
  ["id", "e.id"],
  ["site_display_name", "s.display_name"],
  ["display_name", "e.display_name"],
  ["is_active", "p.is_active"],
  ["version", "p.version"],
  ["is_vulnerable", "p.is_vulnerable"],
  ["update_version", "p.update_version"],
  ["is_update_vulnerable", "p.is_update_vulnerable"],
  ["update_status", "p.update_status"],
  ["is_auto_updated", "p.is_auto_updated"],
] as const satisfies readonly (readonly [keyof CompanyPackage["environments"], string])[];

const environments = `json_build_object(${shown
  .map(([name, value]) => `'${name}', json_agg(${value} order by s.created_at, s.id, e.number)`)
  .join(", ")})`;

const mine = "company_id = $1 and kind = $2 and ($3::uuid[] is null or site_id = any($3))";

/** Of a page of names: everything else is read for these only. */
function textOf({ field, order }: CompanyPackagesQuery): string {
  const by = `${orders[field]} ${directions[order]}`;
  return `
    with items as (
      select name, count(*)::int as environment_count, count(update_version)::int as update_count
      from packages where ${mine}
      group by name
      having ($4::text is null or strpos(lower(name), lower($4)) > 0 or bool_or(strpos(lower(title), lower($4)) > 0))
        and ($5::boolean is null or bool_or(is_active = $5))
        and ($6::text is distinct from 'vulnerable' or bool_or(is_vulnerable))
        and ($6::text is distinct from 'updatesAvailable' or count(update_version) > 0)
    ), page as (
      select *, row_number() over (order by ${by}, name) as place from items order by ${by}, name limit $7 offset $8
    )
    select (select count(*)::int from items) as total,
      (select min(packages_read_at) from environments
        where company_id = $1 and ($3::uuid[] is null or site_id = any($3)) and state <> 'adding'
          and wordpress_version is not null) as read_at,
      (select coalesce(json_agg(one order by place), '[]') from (
        select g.place, g.name, g.environment_count, g.update_count, n.title, n.description,
          coalesce(o.version, n.version) as latest_version,
          case when o.version is null then n.is_vulnerable else o.is_vulnerable end as is_latest_version_vulnerable,
          a.environments
        from page g
        cross join lateral (
          select title, description, version, file, is_vulnerable from packages p
          where ${mine} and p.name = g.name order by version_key desc, environment_id limit 1) n
        left join package_offers o on o.kind = $2 and o.file = n.file
        cross join lateral (
          select ${environments} as environments
          from packages p join environments e on e.id = p.environment_id join sites s on s.id = p.site_id
          where p.company_id = $1 and p.kind = $2 and ($3::uuid[] is null or p.site_id = any($3)) and p.name = g.name) a
      ) one) as items`;
}

export async function listCompanyPackages(pool: Pool, query: CompanyPackagesQuery): Promise<CompanyPackages> {
  const { companyId, kind, siteIds, search, status, column, field, order, limit, offset } = query;
  const isActive = status === null ? null : status === "active";
  const { rows } = await pool.query<CompanyPackages>({
    name: `company-packages-${field}-${order}`,
    text: textOf(query),
    values: [companyId, kind, siteIds, search, isActive, column, limit, offset],
  });
  const [found] = rows;
  if (found === undefined) throw new Error("PostgreSQL gave no row");
  return found;
}
