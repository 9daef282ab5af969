/** Figures for monitoring, over all companies. */
import { sql } from "kysely";
import type { Database } from "./database.ts";

export interface InstallationNumbers {
  readonly sites: number;
  /** By state. */
  readonly environments: Readonly<Record<string, number>>;
  /** By state; ended operations count for 24 hours. */
  readonly operations: Readonly<Record<string, number>>;
  /** The longest current waiting time of an operation; 0 if none waits. */
  readonly longestWaitSeconds: number;
  readonly backups: {
    /** The age of the oldest among the served environments' newest backups. */
    readonly oldestSeconds: number;
    /** Served environments without a backup whose first one is not overdue. */
    readonly pending: number;
    /** Served environments without a backup, although their first one was due an hour ago. */
    readonly missing: number;
    /** Environments whose last scheduled backup failed. */
    readonly failing: number;
    /** Backups that are damaged or failed their test restore. */
    readonly damaged: number;
  };
  /** Disk use of all environments, as last measured. */
  readonly environmentBytes: number;
}

type Counts = Readonly<Record<string, number>> | null;

export async function readInstallationNumbers(database: Database): Promise<InstallationNumbers> {
  const { rows } = await sql<{
    sites: number;
    environments: Counts;
    operations: Counts;
    longestWaitSeconds: number;
    oldestSeconds: number;
    pending: number;
    missing: number;
    failing: number;
    damaged: number;
    environmentBytes: number;
  }>`
    with newest as (
      select e.id, e.backup_failures, max(b.created_at) as at,
        coalesce(e.backup_due_at, e.created_at) < now() - interval '1 hour' as is_overdue
      from environments e left join backups b on b.environment_id = e.id and b.manifest is not null
      where e.state = 'serving' group by e.id
    )
    select (select count(*)::int from sites) as sites,
      (select jsonb_object_agg(state, number) from (
        select state, count(*) as number from environments group by state) as e) as environments,
      (select jsonb_object_agg(state, number) from (
        select state, count(*) as number from operations
        where finished_at is null or finished_at > now() - interval '24 hours' group by state) as o) as operations,
      (select coalesce(extract(epoch from now() - min(created_at)), 0)::float8
        from operations where state = 'waiting') as "longestWaitSeconds",
      (select coalesce(extract(epoch from now() - min(at)), 0)::float8 from newest) as "oldestSeconds",
      (select count(*)::int from newest where at is null and not is_overdue and backup_failures = 0) as pending,
      (select count(*)::int from newest where at is null and (is_overdue or backup_failures > 0)) as missing,
      (select count(*)::int from newest where backup_failures > 0) as failing,
      (select count(*)::int from backups where damage is not null or proof_error is not null) as damaged,
      (select coalesce(sum(disk_bytes), 0)::float8 from environments) as "environmentBytes"`.execute(database);
  const [row] = rows;
  if (row === undefined) throw new Error("The database returned no row");
  const { oldestSeconds, pending, missing, failing, damaged, ...numbers } = row;
  return {
    ...numbers,
    environments: row.environments ?? {},
    operations: row.operations ?? {},
    backups: { oldestSeconds, pending, missing, failing, damaged },
  };
}
