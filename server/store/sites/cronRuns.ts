/** Runs of scheduled tasks (WP-Cron): each environment's last run, and whether another may start. */
import type { OperationKind } from "@sitewright/contract/operationKinds.ts";
import { sql } from "kysely";
import type { Database } from "../database.ts";

export interface CronRun {
  readonly beganAt: Date;
  /** Null while it is running, or if its process was killed. */
  readonly endedAt: Date | null;
  /** The error of this run; of the previous run while this one is running. */
  readonly error: string | null;
  /** Consecutive runs, including this one, that could not be completed. */
  readonly failures: number;
}

/** An environment whose scheduled tasks may run. */
export interface CronEnvironment {
  readonly id: string;
  readonly companyId: string;
  readonly number: number;
  /** Its primary domain. */
  readonly host: string;
  readonly is_https: boolean;
  readonly createdAt: Date;
  /** Null before the first run. */
  readonly lastRun: CronRun | null;
}

/** Operations that don't change files or database. Scheduled tasks wait during all others. */
const nonBlocking: readonly OperationKind[] = [
  "addManualBackup",
  "addScheduledBackup",
  "addDownloadableBackup",
  "removeBackup",
  "proveBackup",
  "comparePush",
  "compareRestore",
  "restartPhp",
  "clearCache",
  "clearEdgeCache",
  "updateEdgeCacheStatus",
];

/** SQL expression: whether the environment `e` is served, writable, and not locked by a blocking operation. */
const mayRun = sql<boolean>`(
  e.state = 'serving' and not e.awaits_rebuild and not e.is_frozen
  and not exists (
    select from environment_locks l join operations o on o.id = l.operation_id
    where l.environment_id = e.id and o.kind <> all(${[...nonBlocking]}::text[])))`;

/** An environment whose next events are read. */
interface EventfulEnvironment extends Pick<CronEnvironment, "id" | "companyId" | "number"> {
  /** Name of its runtime. */
  readonly runtime: string;
}

/** Lists all environments whose scheduled tasks may run now, by number. Which of them are due is not in the database. */
export function listForCron(database: Database): Promise<readonly EventfulEnvironment[]> {
  return database
    .selectFrom("environments as e")
    .select(["e.id", "e.company_id as companyId", "e.number", "e.runtime"])
    .where(mayRun)
    .orderBy("e.number")
    .execute();
}

/** Finds those of the environments that still exist. */
export async function findForCron(database: Database, ids: readonly string[]): Promise<readonly CronEnvironment[]> {
  if (ids.length === 0) return [];
  const rows = await database
    .selectFrom("environments as e")
    .innerJoin("domains as d", (join) => join.onRef("d.environment_id", "=", "e.id").on("d.is_primary", "=", true))
    .leftJoin("cron_runs as r", "r.environment_id", "e.id")
    .select([
      "e.id",
      "e.company_id as companyId",
      "e.number",
      "e.created_at as createdAt",
      "d.name as host",
      "d.is_https",
    ])
    .select(["r.began_at", "r.ended_at", "r.error", "r.failures"])
    .where("e.id", "=", sql<string>`any(${[...ids]}::uuid[])`)
    .orderBy("e.number")
    .execute();
  return rows.map(({ id, companyId, number, createdAt, host, is_https, ...run }) => ({
    id,
    companyId,
    number,
    createdAt,
    host,
    is_https,
    lastRun: runOf(run),
  }));
}

function runOf(row: {
  readonly began_at: Date | null;
  readonly ended_at: Date | null;
  readonly error: string | null;
  readonly failures: number | null;
}): CronRun | null {
  const { began_at: beganAt, ended_at: endedAt, error, failures } = row;
  return beganAt === null ? null : { beganAt, endedAt, error, failures: failures ?? 0 };
}

/** Returns null if there was no run. */
export async function findCronRun(database: Database, environmentId: string): Promise<CronRun | null> {
  const row = await database
    .selectFrom("cron_runs")
    .select(["began_at", "ended_at", "error", "failures"])
    .where("environment_id", "=", environmentId)
    .executeTakeFirst();
  return row === undefined ? null : runOf(row);
}

/**
 * Starts a run. Returns false if the environment has become unavailable since it was listed, or if another process has
 * started a run since `lastRun`.
 */
export async function beginCronRun(
  database: Database,
  { id, lastRun }: Pick<CronEnvironment, "id" | "lastRun">,
  now: Date,
): Promise<boolean> {
  const before = lastRun?.beganAt ?? null;
  const { rows } = await sql`
    insert into cron_runs (environment_id, began_at)
    select e.id, ${now} from environments e where e.id = ${id} and ${mayRun}
    on conflict (environment_id) do update set began_at = excluded.began_at, ended_at = null
      where cron_runs.began_at = ${before}::timestamptz
    returning environment_id`.execute(database);
  return rows.length > 0;
}

/**
 * `isFailure` means that the run could not be completed, so the next one waits longer. Does nothing if the environment
 * is gone.
 */
export async function endCronRun(
  database: Database,
  environmentId: string,
  end: { readonly now: Date; readonly error: string | null; readonly isFailure: boolean },
): Promise<void> {
  await database
    .updateTable("cron_runs")
    .set(({ eb }) => ({
      ended_at: end.now,
      error: end.error,
      failures: end.isFailure ? eb("failures", "+", 1) : 0,
    }))
    .where("environment_id", "=", environmentId)
    .execute();
}
