/** Companies: whose everything is. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";

export async function insertCompany(
  transaction: DatabaseTransaction,
  company: { readonly id: string; readonly name: string },
): Promise<void> {
  await transaction.insertInto("companies").values(company).execute();
}

export async function hasCompany(database: Database): Promise<boolean> {
  return (await database.selectFrom("companies").select("id").limit(1).executeTakeFirst()) !== undefined;
}

/** Lets one transaction at a time decide whether the first company must be made. */
export async function lockFirstCompany(transaction: DatabaseTransaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('sitewright first company'))`.execute(transaction);
}
