/** Resource usage of environments by the hour. */
import { sql } from "kysely";
import type { Pool } from "pg";
import type { Database } from "../database.ts";
import type { LimitsRecord } from "../sites/limits.ts";

/** The edge's counters for an environment since the edge's start. */
export interface Counters {
  readonly php_requests: number;
  readonly php_milliseconds: number;
  readonly cpu_milliseconds: number;
  readonly killed_for_time: number;
  readonly killed_for_memory: number;
  readonly refused_busy: number;
  readonly bytes_sent: number;
  readonly writes: number;
}

interface SeenUsage {
  readonly environment_id: string;
  readonly recent_cores: number;
  readonly counters: Counters;
}

/** Below this, environments without new counts are skipped, so that idle sites get no rows. */
const idleCores = 0.01;

const countedColumns = [
  ...["php_requests", "php_milliseconds", "cpu_milliseconds", "killed_for_time", "killed_for_memory"],
  ...["refused_busy", "bytes_sent"],
];
const since = (name: string) =>
  `greatest((n.counters->>'${name}')::bigint - coalesce((s.counters->>'${name}')::bigint, 0), 0)`;
const deltas = [...countedColumns, "writes"].map((name) => `${since(name)} as ${name}`).join(", ");

/**
 * Adds the increase since the last call to the current hour. `edgeRun` identifies the start of the edge: counters of a
 * new start begin at zero. Skips environments that are gone.
 */
export async function addUsage(database: Database, edgeRun: string, seen: readonly SeenUsage[]): Promise<void> {
  if (seen.length === 0) return;
  const rows = JSON.stringify(seen);
  await sql`
    with n as (
      select u.* from jsonb_to_recordset(${rows}::jsonb)
          as u (environment_id uuid, recent_cores double precision, counters jsonb)
        join environments e on e.id = u.environment_id
        left join usage_seen s on s.environment_id = u.environment_id and s.edge_run = ${edgeRun}::uuid
      where s.counters is distinct from u.counters or u.recent_cores > ${idleCores}::float
    ), d as (
      select n.environment_id, ${sql.raw(deltas)}
      from n left join usage_seen s on s.environment_id = n.environment_id and s.edge_run = ${edgeRun}::uuid
    ), hours as (
      insert into usage_hours (environment_id, hour, ${sql.raw(countedColumns.join(", "))})
      select environment_id, date_trunc('hour', now()), ${sql.raw(countedColumns.join(", "))} from d
      where ${sql.raw(countedColumns.join(" + "))} > 0
      on conflict (environment_id, hour) do update set
        ${sql.raw(countedColumns.map((name) => `${name} = usage_hours.${name} + excluded.${name}`).join(", "))}
    ), written as (
      update environments e set written_at = now() from d where d.environment_id = e.id and d.writes > 0
    )
    insert into usage_seen (environment_id, edge_run, counters, recent_cores)
    select environment_id, ${edgeRun}::uuid, counters, recent_cores from n
    on conflict (environment_id) do update set edge_run = excluded.edge_run, counters = excluded.counters,
      recent_cores = excluded.recent_cores, seen_at = now()`.execute(database);
}

/** Deletes usage older than `days`. */
export async function deleteUsage(database: Database, days: number): Promise<void> {
  await database
    .deleteFrom("usage_hours")
    .where("hour", "<", sql<Date>`now() - make_interval(days => ${days}::integer)`)
    .execute();
}

export interface UsageRecord extends Omit<LimitsRecord, "id">, Omit<Counters, "writes"> {
  readonly environment_id: string;
  readonly display_name: string;
  readonly site_id: string;
  readonly site_display_name: string;
  readonly recent_cores: number;
  /** Killed requests in this hour and the previous one. */
  readonly killed_lately: number;
}

const orders = {
  cpu: "cpu_milliseconds",
  requests: "php_requests",
  bytes: "bytes_sent",
  disk: "disk_bytes",
  killed: "killed_for_time + killed_for_memory",
} as const;
export type UsageOrder = keyof typeof orders;

interface UsageQuery {
  readonly companyId: string;
  /** Null for all sites of the company. */
  readonly siteIds: readonly string[] | null;
  readonly from: Date;
  readonly to: Date;
  readonly order: UsageOrder;
  readonly limit: number;
  readonly offset: number;
}

/** Maximum age of `recent_cores`; 0 is shown if it is older. */
const recentSeconds = 120;
const sums = countedColumns.map((name) => `coalesce(sum(h.${name}), 0)::bigint as ${name}`).join(", ");

async function countEnvironments(pool: Pool, { companyId, siteIds }: UsageQuery): Promise<number> {
  const { rows } = await pool.query<{ readonly total: number }>({
    name: "count-usage",
    text: `
      select count(*) as total from environments e
      where e.company_id = $1 and e.state <> 'adding' and ($2::uuid[] is null or e.site_id = any($2))`,
    values: [companyId, siteIds],
  });
  return rows[0]?.total ?? 0;
}

/** Returns the usage of the company's environments in the hours that start within the period, heaviest first. */
export async function listUsage(
  pool: Pool,
  query: UsageQuery,
): Promise<{ readonly items: readonly UsageRecord[]; readonly total: number }> {
  const { companyId, siteIds, from, to, order, limit, offset } = query;
  const { rows } = await pool.query<UsageRecord & { readonly total: number }>({
    name: `list-usage-${order}`,
    text: `
      select * from (
        select e.id as environment_id, e.display_name, e.site_id, s.display_name as site_display_name,
          e.php_threads, e.php_memory_mb, e.request_seconds, e.disk_quota_bytes, e.disk_bytes, e.disk_measured_at,
          case when u.seen_at > now() - make_interval(secs => ${recentSeconds}) then u.recent_cores else 0 end
            as recent_cores, k.killed_lately, t.*, count(*) over () as total
        from environments e
          join sites s on s.id = e.site_id
          left join usage_seen u on u.environment_id = e.id
          cross join lateral (
            select ${sums} from usage_hours h where h.environment_id = e.id and h.hour >= $3 and h.hour < $4) t
          cross join lateral (
            select coalesce(sum(h.killed_for_time + h.killed_for_memory), 0)::bigint as killed_lately from usage_hours h
            where h.environment_id = e.id and h.hour >= date_trunc('hour', now()) - interval '1 hour') k
        where e.company_id = $1 and e.state <> 'adding' and ($2::uuid[] is null or e.site_id = any($2))
      ) usage
      order by ${orders[order]} desc nulls last, environment_id limit $5 offset $6`,
    values: [companyId, siteIds, from, to, limit, offset],
  });
  const total = rows[0]?.total ?? (offset === 0 ? 0 : await countEnvironments(pool, query));
  return { items: rows, total };
}
