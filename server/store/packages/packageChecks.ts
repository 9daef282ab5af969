/** When installed packages were last checked for updates and for vulnerabilities. */
import { sql } from "kysely";
import type { Database } from "../database.ts";

/**
 * Records a check for updates. `problem` says why the package source could not be asked; null after a complete check.
 */
export async function noteSourceCheck(database: Database, problem: string | null): Promise<void> {
  const row = { problem, ...(problem === null && { checked_at: sql<Date>`now()` }) };
  await database
    .insertInto("package_source")
    .values(row)
    .onConflict((conflict) => conflict.column("is_only").doUpdateSet(row))
    .execute();
}

/** Clears the problem of the last check, because nothing is due any more. */
export async function clearSourceProblem(database: Database): Promise<void> {
  await database.updateTable("package_source").set({ problem: null }).where("problem", "is not", null).execute();
}

export interface Check {
  /** The last successful check, or null if there was none. */
  readonly checkedAt: Date | null;
  /** Why the newest check failed, or null. */
  readonly problem: string | null;
}

export async function lastChecks(
  database: Database,
): Promise<{ readonly updates: Check; readonly vulnerabilities: Check }> {
  const source = database.selectFrom("package_source").select(["checked_at as checkedAt", "problem"]);
  const feed = database.selectFrom("advisory_feed").select(["checked_at", "read_at", "problem"]);
  const [updates, vulnerabilities] = await Promise.all([source.executeTakeFirst(), feed.executeTakeFirst()]);
  const never = { checkedAt: null, problem: null };
  if (vulnerabilities === undefined) return { updates: updates ?? never, vulnerabilities: never };
  const { checked_at, read_at, problem } = vulnerabilities;
  // A feed that is unchanged is checked and not read again.
  const checkedAt = problem === null && read_at !== null ? checked_at : read_at;
  return { updates: updates ?? never, vulnerabilities: { checkedAt, problem } };
}
