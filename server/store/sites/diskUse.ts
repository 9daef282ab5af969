/** What environments take of the disk, as rows. */
import { sql } from "kysely";
import type { Database } from "../database.ts";

export interface ToMeasure {
  readonly id: string;
  readonly number: number;
  /** In force; null: none. */
  readonly quotaBytes: number | null;
}

/** Of one that has been measured and was changed since. */
const usualMinutes = 5;
/** For environments near or over their quota, whose users want to use the room that they have made. */
const nearSeconds = 20;
const nearShare = 0.8;

/**
 * The environment that has waited longest of those that were changed since they were measured, by PHP or by an operation; null
 * where none is due. `usualQuotaBytes` is of those without a quota of their own.
 */
export async function findToMeasure(database: Database, usualQuotaBytes: number | null): Promise<ToMeasure | null> {
  const { rows } = await sql<ToMeasure>`
    select e.id, e.number, q.bytes as "quotaBytes"
    from environments e cross join lateral (
      select coalesce(e.disk_quota_bytes, ${usualQuotaBytes}::bigint) as bytes) q
    where e.state = 'serving' and not e.awaits_rebuild and (
      e.disk_measured_at is null or e.disk_measured_at > now()
      or (e.disk_measured_at < now() - case when e.disk_bytes > q.bytes * ${nearShare}::float
            then make_interval(secs => ${nearSeconds}) else make_interval(mins => ${usualMinutes}) end
        and (e.written_at > e.disk_measured_at or exists (
          select from operations o where o.environment_id = e.id and o.finished_at > e.disk_measured_at)))
    )
    order by e.disk_measured_at nulls first, e.number limit 1`.execute(database);
  return rows[0] ?? null;
}

/** The database's clock. */
export async function databaseNow(database: Database): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select date_trunc('milliseconds', now()) as now`.execute(database);
  const [row] = rows;
  if (row === undefined) throw new Error("PostgreSQL returned no time");
  return row.now;
}

/** In bytes. */
interface Use {
  readonly files: number;
  readonly database: number;
}

/**
 * Notes what the environment takes, as of before it was measured. One whose files are not there takes nothing, and one that is gone
 * is left alone.
 */
export async function measureDiskUse(
  database: Database,
  { id, number }: Pick<ToMeasure, "id" | "number">,
  measure: (environment: Pick<ToMeasure, "id" | "number">) => Promise<Use | null>,
): Promise<void> {
  const disk_measured_at = await databaseNow(database);
  const use = await measure({ id, number });
  const disk_bytes = use === null ? 0 : use.files + use.database;
  await database.updateTable("environments").set({ disk_bytes, disk_measured_at }).where("id", "=", id).execute();
}

/** The quota in force; null: none. */
export async function quotaOf(
  database: Database,
  environmentId: string,
  usualQuotaBytes: number | null,
): Promise<number | null> {
  const row = await database
    .selectFrom("environments")
    .select("disk_quota_bytes")
    .where("id", "=", environmentId)
    .executeTakeFirst();
  return row?.disk_quota_bytes ?? usualQuotaBytes;
}
