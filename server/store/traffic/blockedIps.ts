/** Blocked IP addresses of environments. */
import type { Database, DatabaseTransaction } from "../database.ts";

/** Returns the list in its stored order, or null if there is no such environment. */
export async function findBlockedIps(
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

export async function setBlockedIps(
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
