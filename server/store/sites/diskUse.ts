/** Disk use of environments. */
import { sql } from "kysely";
import { limitsInForce } from "../company/companyLimits.ts";
import type { Database, DatabaseTransaction } from "../database.ts";

interface ToMeasure {
  readonly id: string;
  readonly number: number;
  /** The quota in force, or null. */
  readonly quotaBytes: number | null;
}

/** Minimum time between measurements of a changed environment. */
const minAgeMinutes = 5;
/** For environments near or over their quota, so that freed space can be used soon. */
const minAgeNearQuotaSeconds = 20;
const nearQuotaFraction = 0.8;
/** After older operations there was a measurement, or no control process since. */
const operationDays = 2;

/**
 * Finds the environment with the oldest measurement among those that PHP or an operation has changed since; null if
 * none is due. `defaultQuotaBytes` applies to environments without their own quota.
 */
export async function findToMeasure(database: Database, defaultQuotaBytes: number | null): Promise<ToMeasure | null> {
  const { rows } = await sql<ToMeasure>`
    select e.id, e.number, q.bytes as "quotaBytes"
    from environments e
      left join limits_of_companies c on c.company_id = e.company_id
      cross join lateral (select ${limitsInForce(defaultQuotaBytes).quotaBytes} as bytes) q
    where e.state = 'serving' and not e.awaits_rebuild and (
      e.disk_measured_at is null or e.disk_measured_at > now()
      or (e.disk_measured_at < now() - case when e.disk_bytes > q.bytes * ${nearQuotaFraction}::float
            then make_interval(secs => ${minAgeNearQuotaSeconds}) else make_interval(mins => ${minAgeMinutes}) end
        and (e.written_at > e.disk_measured_at or e.id in (
          select o.environment_id from operations o join environments oe on oe.id = o.environment_id
          where o.finished_at > now() - make_interval(days => ${operationDays})
            and o.finished_at > oe.disk_measured_at)))
    )
    order by e.disk_measured_at nulls first, e.number limit 1`.execute(database);
  return rows[0] ?? null;
}

/** Returns the database's time. */
export async function databaseNow(database: Database): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select date_trunc('milliseconds', now()) as now`.execute(database);
  const [row] = rows;
  if (row === undefined) throw new Error("PostgreSQL returned no time");
  return row.now;
}

/** Disk use in bytes. */
interface Use {
  readonly files: number;
  readonly database: number;
  /** Sessions and temporary files. */
  readonly temporary: number;
}

/** The bytes that count for the quota. */
export const totalOf = ({ files, database, temporary }: Use): number => files + database + temporary;

/**
 * Measures and stores an environment's disk use, with the time before the measurement. Stores 0 if its files don't
 * exist. Does nothing if the environment is gone.
 */
export async function measureDiskUse(
  database: Database,
  { id, number }: Pick<ToMeasure, "id" | "number">,
  measure: (environment: Pick<ToMeasure, "id" | "number">) => Promise<Use | null>,
): Promise<void> {
  const disk_measured_at = await databaseNow(database);
  const use = await measure({ id, number });
  const disk_bytes = use === null ? 0 : totalOf(use);
  await database.updateTable("environments").set({ disk_bytes, disk_measured_at }).where("id", "=", id).execute();
}

/** Returns the largest size that the environment may have, or null for no limit. */
export async function quotaOf(
  database: Database | DatabaseTransaction,
  environmentId: string,
  defaultQuotaBytes: number | null,
): Promise<number | null> {
  const row = await database
    .selectFrom("environments as e")
    .leftJoin("limits_of_companies as c", "c.company_id", "e.company_id")
    .select(limitsInForce(defaultQuotaBytes).quotaBytes.as("bytes"))
    .where("e.id", "=", environmentId)
    .executeTakeFirst();
  return row === undefined ? defaultQuotaBytes : row.bytes;
}

/**
 * Counts an environment that will grow to `bytes` as that large until it is measured again, so that simultaneous operations of
 * a company can't use the same space. If its quota is less, does nothing and returns the quota; otherwise returns null.
 */
export function reserveDisk(
  database: Database,
  { environmentId, bytes }: { readonly environmentId: string; readonly bytes: number },
  defaultQuotaBytes: number | null,
): Promise<number | null> {
  return database.transaction().execute(async (transaction) => {
    await sql`
      select from companies where id = (select company_id from environments where id = ${environmentId})
      for no key update`.execute(transaction);
    const quota = await quotaOf(transaction, environmentId, defaultQuotaBytes);
    if (quota === null) return null;
    if (bytes > quota) return quota;
    await sql`
      update environments set disk_bytes = greatest(coalesce(disk_bytes, 0), ${Math.ceil(bytes)}::bigint)
      where id = ${environmentId}`.execute(transaction);
    return null;
  });
}
