/** Limits of environments. */
import type { Pool } from "pg";
import type { Database, DatabaseTransaction } from "../database.ts";

/** An environment's own limits; null for the installation's default. */
export interface OwnLimits {
  readonly php_threads: number;
  readonly php_memory_mb: number;
  readonly request_seconds: number | null;
  readonly disk_quota_bytes: number | null;
}

export interface LimitsRecord extends OwnLimits {
  readonly id: string;
  readonly disk_bytes: number | null;
  readonly disk_measured_at: Date | null;
}

const ownLimitColumns = ["php_threads", "php_memory_mb", "request_seconds", "disk_quota_bytes"] as const;

/** Returns null if there is no such environment. */
export async function findLimits(pool: Pool, environmentId: string): Promise<LimitsRecord | null> {
  const { rows } = await pool.query<LimitsRecord>({
    name: "find-limits",
    text: `select id, ${ownLimitColumns.join(", ")}, disk_bytes, disk_measured_at from environments
           where id = $1 and state <> 'adding'`,
    values: [environmentId],
  });
  return rows[0] ?? null;
}

/** Returns the limits of those environments that exist. */
export async function ownLimits(
  database: Database,
  environmentIds: readonly string[],
): Promise<readonly (OwnLimits & { readonly id: string })[]> {
  return database
    .selectFrom("environments")
    .select("id")
    .select(ownLimitColumns)
    .where("id", "in", environmentIds)
    .orderBy("number")
    .execute();
}

/** Ignores environments that are gone. */
export async function setLimits(
  database: Database | DatabaseTransaction,
  environmentIds: readonly string[],
  changes: Partial<OwnLimits>,
): Promise<void> {
  if (Object.keys(changes).length === 0 || environmentIds.length === 0) return;
  await database.updateTable("environments").set(changes).where("id", "in", environmentIds).execute();
}
