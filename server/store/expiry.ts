/** Rows that are kept for a time only. */
import { sql } from "kysely";
import type { Database } from "./database.ts";

/** Answers are kept for 24 hours. */
export async function deleteExpiredIdempotencyKeys(database: Database): Promise<void> {
  await database
    .deleteFrom("idempotency_keys")
    .where("created_at", "<", sql<Date>`now() - interval '24 hours'`)
    .execute();
}
