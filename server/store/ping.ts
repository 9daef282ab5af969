/** Checks the connection to the database. */
import { sql } from "kysely";
import type { Database } from "./database.ts";

/** Rejects if the database does not answer. */
export async function ping(database: Database): Promise<void> {
  await sql`select 1`.execute(database);
}
