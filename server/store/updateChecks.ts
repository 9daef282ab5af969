/** Paths that are asked for before an update takes an environment's place. */
import type { Database, DatabaseTransaction } from "./database.ts";

/** In the order in which they were kept; null where there is no such environment to be seen. */
export async function findUpdateChecks(
  database: Database | DatabaseTransaction,
  environmentId: string,
): Promise<{ readonly id: string; readonly update_checks: readonly string[] } | null> {
  const row = await database
    .selectFrom("environments")
    .select(["id", "update_checks"])
    .where("id", "=", environmentId)
    .where("state", "<>", "adding")
    .executeTakeFirst();
  return row ?? null;
}

export async function setUpdateChecks(
  transaction: DatabaseTransaction,
  environmentId: string,
  paths: readonly string[],
): Promise<void> {
  await transaction
    .updateTable("environments")
    .set({ update_checks: [...paths] })
    .where("id", "=", environmentId)
    .execute();
}
