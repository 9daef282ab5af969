/** HTTPS redirect setting of environments. */
import type { Database, DatabaseTransaction, ForceHttps } from "../database.ts";

/** Returns null if there is no such environment. */
export async function findForceHttps(
  database: Database | DatabaseTransaction,
  environmentId: string,
): Promise<{ readonly id: string; readonly forceHttps: ForceHttps | null } | null> {
  const row = await database
    .selectFrom("environments")
    .select(["id", "force_https as forceHttps"])
    .where("id", "=", environmentId)
    .where("state", "<>", "adding")
    .executeTakeFirst();
  return row ?? null;
}

export async function setForceHttps(
  transaction: DatabaseTransaction,
  environmentId: string,
  forceHttps: ForceHttps | null,
): Promise<void> {
  await transaction
    .updateTable("environments")
    .set({ force_https: forceHttps })
    .where("id", "=", environmentId)
    .execute();
}
