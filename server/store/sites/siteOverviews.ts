/** Sites with what is known about their live environments. One statement finds, counts, sorts and reads a page. */
import type { Pool } from "pg";
import { type LabelBrief, labelsOfSite } from "./labels.ts";

export type LiveState = "ready" | "busy" | "awaits_rebuild";
export type OverviewOrder = "name" | "created" | "wordpress" | "php" | "updates" | "vulnerabilities" | "proven";

/** Null, unless the comment says something else: it does not matter. */
export interface OverviewQuery {
  readonly companyId: string;
  /** Only these sites; null for all. */
  readonly siteIds: readonly string[] | null;
  readonly search: string | null;
  readonly labelId: string | null;
  readonly state: LiveState | null;
  readonly wordpressVersion: string | null;
  readonly phpVersion: string | null;
  readonly hasUpdates: boolean | null;
  readonly isVulnerable: boolean | null;
  /** Whether a backup was restored for a test in the last 30 days. */
  readonly isProven: boolean | null;
  readonly order: OverviewOrder;
  readonly isDescending: boolean;
  readonly limit: number;
  readonly offset: number;
}

interface LiveRecord {
  readonly id: string;
  readonly host: string;
  readonly is_https: boolean;
  readonly state: LiveState;
  readonly wordpress_version: string | null;
  readonly php_version: string;
  readonly updates: number;
  readonly vulnerabilities: number;
  /** As JSON writes times, like the other one. */
  readonly proven_restore_at: string | null;
  readonly picture_operation_id: string | null;
}

export interface SiteOverviewRecord {
  readonly id: string;
  readonly name: string;
  readonly display_name: string;
  readonly created_at: string;
  readonly labels: readonly LabelBrief[];
  readonly environment_count: number;
  /** Null: the site has no live environment. */
  readonly live: LiveRecord | null;
}

export interface OverviewPage {
  readonly total: number;
  readonly wordpress_versions: readonly string[];
  readonly php_versions: readonly string[];
  readonly items: readonly SiteOverviewRecord[];
}

/** Days for which a test restore counts. */
const provenDays = 30;

const state = `case when e.awaits_rebuild then 'awaits_rebuild'
  when exists (select from environment_locks l where l.environment_id = e.id) then 'busy' else 'ready' end`;
const withUpdate = "from packages p where p.environment_id = e.id and p.update_version is not null";
const vulnerable = "from packages p where p.environment_id = e.id and p.is_vulnerable";
const provenAt = `(select max(b.last_proven_restore) from backups b
  where b.environment_id = e.id and b.manifest is not null)`;
/** A version as numbers, so that 6.10 comes after 6.9. */
const numbersOf = (version: string) => `string_to_array(substring(${version} from '^\\d+(?:\\.\\d+)*'), '.')::int[]`;

const orders: Record<OverviewOrder, string> = {
  name: "lower(s.display_name)",
  created: "s.created_at",
  wordpress: numbersOf("e.wordpress_version"),
  php: numbersOf("e.php_version"),
  updates: `(select count(*) ${withUpdate})`,
  vulnerabilities: `(select count(*) ${vulnerable})`,
  proven: provenAt,
};

const live = `case when e.id is not null then json_build_object(
  'id', e.id, 'host', d.name, 'is_https', d.is_https, 'state', ${state},
  'wordpress_version', e.wordpress_version, 'php_version', e.php_version,
  'updates', (select count(*) ${withUpdate}), 'vulnerabilities', (select count(*) ${vulnerable}),
  'proven_restore_at', ${provenAt},
  'picture_operation_id', (select o.id from operations o where o.environment_id = e.id and o.state = 'succeeded'
    and o.kind like 'update%' and (o.input->>'pictureThreshold') is not null
    and o.finished_at > now() - interval '30 days' order by o.finished_at desc limit 1)) end`;

/** Of all sites that the reader has. */
const versionsOf = (column: string) => `(
  select coalesce(json_agg(v order by ${numbersOf("v")}, v), '[]'::json) from (
    select distinct ${column} as v from environments where company_id = $1 and name = 'live' and state <> 'adding'
      and ${column} is not null and ($2::uuid[] is null or site_id = any($2))) versions)`;

/** SQL for a filter of a condition that a boolean parameter wants to be true or false, or does not care about. */
const wanted = (parameter: string, condition: string) =>
  `(${parameter}::boolean is null or (e.id is not null and (${condition}) = ${parameter}))`;

function textFor({ order, isDescending }: Pick<OverviewQuery, "order" | "isDescending">): string {
  const direction = isDescending ? "desc nulls last" : "asc nulls first";
  return `with found as materialized (
      select s.id, ${orders[order]} as place, lower(s.display_name) as title
      from sites s left join environments e on e.site_id = s.id and e.name = 'live' and e.state <> 'adding'
      where s.company_id = $1 and s.state <> 'adding' and ($2::uuid[] is null or s.id = any($2))
        and ($3::text is null or strpos(s.name, lower($3)) > 0 or strpos(lower(s.display_name), lower($3)) > 0)
        and ($4::uuid is null or exists (select from site_labels sl where sl.site_id = s.id and sl.label_id = $4))
        and ($5::text is null or (e.id is not null and ${state} = $5))
        and ($6::text is null or e.wordpress_version = $6) and ($7::text is null or e.php_version = $7)
        and ${wanted("$8", `exists (select ${withUpdate})`)}
        and ${wanted("$9", `exists (select ${vulnerable})`)}
        and ${wanted("$10", `coalesce(${provenAt} > now() - interval '${provenDays} days', false)`)}
    ), page as (
      select id, row_number() over (order by place ${direction}, title, id) as number from found
      order by number limit $11 offset $12
    )
    select (select count(*)::int from found) as total,
      ${versionsOf("wordpress_version")} as wordpress_versions, ${versionsOf("php_version")} as php_versions,
      (select coalesce(json_agg(json_build_object('id', s.id, 'name', s.name, 'display_name', s.display_name,
          'created_at', s.created_at, 'labels', ${labelsOfSite},
          'environment_count', (select count(*) from environments c where c.site_id = s.id and c.state <> 'adding'),
          'live', ${live}) order by page.number), '[]'::json)
        from page join sites s on s.id = page.id
          left join environments e on e.site_id = s.id and e.name = 'live' and e.state <> 'adding'
          left join domains d on d.environment_id = e.id and d.is_primary) as items`;
}

/** Reads a page of the company's sites. */
export async function listSiteOverviews(pool: Pool, query: OverviewQuery): Promise<OverviewPage> {
  const { rows } = await pool.query<OverviewPage>({
    text: textFor(query),
    values: [
      query.companyId,
      query.siteIds,
      query.search,
      query.labelId,
      query.state,
      query.wordpressVersion,
      query.phpVersion,
      query.hasUpdates,
      query.isVulnerable,
      query.isProven,
      query.limit,
      query.offset,
    ],
  });
  return rows[0] ?? { total: 0, wordpress_versions: [], php_versions: [], items: [] };
}
