/** Paths that are asked for before an update takes an environment's place. */
import type { Database, DatabaseTransaction } from "../database.ts";

export interface UpdateChecks {
  readonly update_checks: readonly string[];
  /** How much screenshots of these and of the front page may differ, in percent. Null: no screenshots. */
  readonly picture_threshold: number | null;
}

/** In the order in which they were kept; null if there is no such environment to be seen. */
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
