/** The parts of sites' addresses that come from the settings: name suffix and ports. */
import { sql } from "kysely";
import type { DatabaseTransaction } from "../database.ts";
import { type EnvironmentFacts, environmentFacts } from "./environmentStates.ts";

export interface SiteAddresses {
  readonly siteSuffix: string;
  readonly publicPort: number;
  readonly publicTlsPort: number;
}

/** Stores the values and returns the previous ones, or null. The row stays locked until the transaction ends. */
export async function replaceSiteAddresses(
  transaction: DatabaseTransaction,
  { siteSuffix: suffix, publicPort: http_port, publicTlsPort: https_port }: SiteAddresses,
): Promise<SiteAddresses | null> {
  const before = await transaction
    .selectFrom("site_addresses")
    .select(["suffix as siteSuffix", "http_port as publicPort", "https_port as publicTlsPort"])
    .forUpdate()
    .executeTakeFirst();
  const values = { suffix, http_port, https_port };
  await transaction
    .insertInto("site_addresses")
    .values(values)
    .onConflict((conflict) => conflict.column("is_only").doUpdateSet(values))
    .execute();
  return before ?? null;
}

/**
 * Moves all temporary domains from one suffix to another, also of deleted environments. Throws if a new name is in use.
 */
export async function renameTemporaryDomains(
  transaction: DatabaseTransaction,
  from: string,
  to: string,
): Promise<void> {
  const moved = (column: "name" | "host") =>
    sql<string>`left(${sql.ref(column)}, length(${sql.ref(column)}) - length(${from}::text)) || ${to}::text`;
  const isBelow = (column: "name" | "host") =>
    sql<boolean>`right(${sql.ref(column)}, length(${from}::text) + 1) = '.' || ${from}::text`;
  await transaction
    .updateTable("domains")
    .set({ name: moved("name") })
    .where("setup_type", "=", "temporary")
    .where(isBelow("name"))
    .execute();
  await transaction
    .updateTable("deleted_environments")
    .set({ host: moved("host") })
    .where(isBelow("host"))
    .execute();
}

/** Lists all environments whose files are on this machine. */
export function environmentsWithContent(transaction: DatabaseTransaction): Promise<EnvironmentFacts[]> {
  return environmentFacts(transaction).where("e.awaits_rebuild", "=", false).orderBy("e.number").execute();
}
