/** Counts of requests to environments by minute, hour and day, and their disk use. */
import { sql } from "kysely";
import type { Pool } from "pg";
import type { Database } from "../database.ts";

/** Numbers by name, as the edge counts them. Absent: 0. */
export type Counts = Readonly<Record<string, number>>;

export const steps = ["minute", "hour", "day"] as const;
export type Step = (typeof steps)[number];

/** A minute that is over, as one start of the edge counted it. */
interface CountedMinute {
  /** Identifies the start of the edge. */
  readonly run: string;
  /** Milliseconds since 1970. */
  readonly begins: number;
  /** By id of the environment. */
  readonly environments: Readonly<Record<string, Counts>>;
}

/** Days for which counts are kept, by their step, and disk use. */
export const analyticsDays = { minute: 2, hour: 62, day: 731 } as const;

/** Later minutes are not stored: others of their hour may be deleted already, which are needed to tell whether they are new. */
const maxAgeHours = 47;

/** The sums of the counts in `minutes`, by environment and hour or day. */
const sums = (step: "hour" | "day") => sql`
  select environment_id, begins, jsonb_object_agg(name, total) from (
    select environment_id, date_trunc(${sql.lit(step)}, minute, 'UTC') as begins, name, sum(value::bigint) as total
    from minutes cross join lateral jsonb_each_text(counts) as each (name, value)
    group by environment_id, begins, name) as named
  group by environment_id, begins order by environment_id, begins`;

/** Stores minutes, and adds those that are new to their hours and days. Skips environments that are gone. */
export async function addAnalytics(database: Database, minutes: readonly CountedMinute[]): Promise<void> {
  if (minutes.length === 0) return;
  await sql`
    with given as (
      select (m->>'run')::uuid as edge_run, to_timestamp((m->>'begins')::float8 / 1000) as minute,
        m->'environments' as environments
      from jsonb_array_elements(${JSON.stringify(minutes)}::jsonb) as m
    ), fresh as (
      select * from given where minute > now() - make_interval(hours => ${maxAgeHours}::integer)
    ), measured as (
      insert into analytics_measured (step, begins)
      select distinct step, date_trunc(step, minute, 'UTC') as begins
      from fresh cross join (values ('minute'), ('hour'), ('day')) as steps (step) order by step, begins
      on conflict do nothing
    ), minutes as (
      insert into analytics_minutes (environment_id, minute, edge_run, counts)
      select e.id, minute, edge_run, counts
      from fresh cross join lateral jsonb_each(environments) as each (id, counts) join environments e on e.id = each.id::uuid
      order by e.id, minute, edge_run
      on conflict do nothing returning environment_id, minute, counts
    ), hours as (
      insert into analytics_hours (environment_id, hour, counts) ${sums("hour")}
      on conflict (environment_id, hour) do update set counts = add_counts(analytics_hours.counts, excluded.counts)
    )
    insert into analytics_days (environment_id, day, counts) ${sums("day")}
    on conflict (environment_id, day) do update set counts = add_counts(analytics_days.counts, excluded.counts)`.execute(
    database,
  );
}

const before = (days: number) => sql<Date>`now() - make_interval(days => ${days}::integer)`;

/** Deletes what is older than `analyticsDays`. */
export async function deleteAnalytics(database: Database): Promise<void> {
  const { minute, hour, day } = analyticsDays;
  await database.deleteFrom("analytics_minutes").where("minute", "<", before(minute)).execute();
  await database.deleteFrom("analytics_hours").where("hour", "<", before(hour)).execute();
  await database.deleteFrom("analytics_days").where("day", "<", before(day)).execute();
  for (const step of steps) {
    const measured = database.deleteFrom("analytics_measured").where("step", "=", step);
    await measured.where("begins", "<", before(analyticsDays[step])).execute();
  }
  await thinOutDisk(database);
}

/** Of old measurements the last one of each day stays, and of those that are older than all counts the last one. */
async function thinOutDisk(database: Database): Promise<void> {
  await sql`
    delete from analytics_disk d
    where d.hour < ${before(analyticsDays.hour)} and exists (
      select from analytics_disk later
      where later.environment_id = d.environment_id and later.hour > d.hour and later.hour < (case
        when d.hour < ${before(analyticsDays.day)} then ${before(analyticsDays.day)}
        else date_trunc('day', d.hour, 'UTC') + interval '1 day' end))`.execute(database);
}

interface Period {
  readonly from: Date;
  readonly to: Date;
}

interface AnalyticsQuery extends Period {
  readonly environmentId: string;
  readonly step: Step;
}

export interface AnalyticsRecord {
  readonly begins: Date;
  readonly counts: Counts;
}

export interface DiskRecord {
  readonly hour: Date;
  readonly disk_bytes: number;
}

export interface EnvironmentAnalytics {
  readonly createdAt: Date;
  /** The beginnings of the steps in which the edge counted. */
  readonly measured: readonly Date[];
  /** Of a minute there may be several, which are added up. */
  readonly counted: readonly AnalyticsRecord[];
  /** In ascending order, beginning with the last one before the period. */
  readonly disk: readonly DiskRecord[];
}

const tables = {
  minute:
    "select minute as begins, counts from analytics_minutes where environment_id = $1 and minute >= $2 and minute < $3",
  hour: "select hour as begins, counts from analytics_hours where environment_id = $1 and hour >= $2 and hour < $3",
  day: "select day as begins, counts from analytics_days where environment_id = $1 and day >= $2 and day < $3",
} as const;

/** The steps of an environment that begin within the period. Null if the environment is gone. */
export async function readAnalytics(pool: Pool, query: AnalyticsQuery): Promise<EnvironmentAnalytics | null> {
  const { environmentId, step, from, to } = query;
  const values = [environmentId, from, to];
  const [environment, measured, counted, disk] = await Promise.all([
    pool.query<{ createdAt: Date }>({
      name: "analytics-environment",
      text: `select created_at as "createdAt" from environments where id = $1`,
      values: [environmentId],
    }),
    pool.query<{ begins: Date }>({
      name: "analytics-measured",
      text: "select begins from analytics_measured where step = $1 and begins >= $2 and begins < $3",
      values: [step, from, to],
    }),
    pool.query<AnalyticsRecord>({ name: `analytics-${step}`, text: tables[step], values }),
    pool.query<DiskRecord>({
      name: "analytics-disk",
      text: `
        select hour, disk_bytes from analytics_disk
        where environment_id = $1 and hour < $3 and hour >= coalesce((
          select max(hour) from analytics_disk where environment_id = $1 and hour <= $2), $2)
        order by hour`,
      values,
    }),
  ]);
  const [found] = environment.rows;
  if (found === undefined) return null;
  return { ...found, measured: measured.rows.map(({ begins }) => begins), counted: counted.rows, disk: disk.rows };
}

/** Sums over environments. */
export interface TrafficTotals {
  readonly requests: number;
  readonly visits: number;
  readonly bytes: number;
}

const total = (name: string) => `coalesce(sum((d.counts->>'${name}')::bigint), 0)::bigint as ${name}`;
const totals = ["requests", "visits", "bytes"].map(total).join(", ");

/** The sums of the site's environments on the days (UTC) that begin within the period. */
export async function readSiteTotals(pool: Pool, siteId: string, { from, to }: Period): Promise<TrafficTotals> {
  const { rows } = await pool.query<TrafficTotals>({
    name: "site-analytics",
    text: `
      select ${totals} from environments e join analytics_days d on d.environment_id = e.id
      where e.site_id = $1 and d.day >= $2 and d.day < $3`,
    values: [siteId, from, to],
  });
  return rows[0] ?? { requests: 0, visits: 0, bytes: 0 };
}

interface CompanyQuery extends Period {
  readonly companyId: string;
  /** Null for all sites of the company. */
  readonly siteIds: readonly string[] | null;
}

/** The sums of the company's environments on each day (UTC) within the period on which the edge counted. */
export async function readCompanyTotals(
  pool: Pool,
  { companyId, siteIds, from, to }: CompanyQuery,
): Promise<readonly (TrafficTotals & { readonly day: Date })[]> {
  const { rows } = await pool.query<TrafficTotals & { day: Date }>({
    name: "company-analytics",
    text: `
      select m.begins as day, t.* from analytics_measured m cross join lateral (
        select ${totals} from environments e join analytics_days d on d.environment_id = e.id
        where e.company_id = $1 and ($2::uuid[] is null or e.site_id = any($2)) and d.day = m.begins) t
      where m.step = 'day' and m.begins >= $3 and m.begins < $4 order by day`,
    values: [companyId, siteIds, from, to],
  });
  return rows;
}
