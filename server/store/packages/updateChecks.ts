/** Checks of an update before it goes live: paths and screenshots. */
import type { Database, DatabaseTransaction } from "../database.ts";

interface UpdateChecks {
  readonly update_checks: readonly string[];
  /**
   * The largest accepted visual difference of these pages and the front page, in percent; null takes no screenshots.
   */
  readonly picture_threshold: number | null;
}

/** Returns the checks, with paths in the order of the last change, or null if there is no such environment. */
export async function findUpdateChecks(
  database: Database | DatabaseTransaction,
  environmentId: string,
): Promise<({ readonly id: string } & UpdateChecks) | null> {
  const row = await database
    .selectFrom("environments")
    .select(["id", "update_checks", "picture_threshold"])
    .where("id", "=", environmentId)
    .where("state", "<>", "adding")
    .executeTakeFirst();
  return row ?? null;
}

export async function setUpdateChecks(
  transaction: DatabaseTransaction,
  environmentId: string,
  checks: UpdateChecks,
): Promise<void> {
  await transaction
    .updateTable("environments")
    .set({ ...checks, update_checks: [...checks.update_checks] })
    .where("id", "=", environmentId)
    .execute();
}
