/** The XML-RPC setting of environments. */
import type { Database, DatabaseTransaction } from "../database.ts";

/** Returns null if there is no such environment. */
export async function findXmlRpc(
  database: Database | DatabaseTransaction,
  environmentId: string,
): Promise<{ readonly id: string; readonly isOn: boolean } | null> {
  const row = await database
    .selectFrom("environments")
    .select(["id", "is_xml_rpc_on as isOn"])
    .where("id", "=", environmentId)
    .where("state", "<>", "adding")
    .executeTakeFirst();
  return row ?? null;
}

export async function setXmlRpc(transaction: DatabaseTransaction, environmentId: string, isOn: boolean): Promise<void> {
  await transaction.updateTable("environments").set({ is_xml_rpc_on: isOn }).where("id", "=", environmentId).execute();
}
