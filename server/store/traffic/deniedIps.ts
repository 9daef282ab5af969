/** Addresses whose visitors an environment doesn't answer. */
import type { Database, DatabaseTransaction } from "../database.ts";

/** In the order in which they were kept; null if there is no such environment to be seen. */
export async function findDeniedIps(
  database: Database | DatabaseTransaction,
  environmentId: string,
): Promise<{ readonly id: string; readonly list: readonly string[] } | null> {
  const row = await database
    .selectFrom("environments")
    .select(["id", "denied_ips as list"])
    .where("id", "=", environmentId)
    .where("state", "<>", "adding")
    .executeTakeFirst();
  return row ?? null;
}

export async function setDeniedIps(
  transaction: DatabaseTransaction,
  environmentId: string,
  list: readonly string[],
): Promise<void> {
  await transaction
    .updateTable("environments")
    .set({ denied_ips: [...list] })
    .where("id", "=", environmentId)
    .execute();
}
