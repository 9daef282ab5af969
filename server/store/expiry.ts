/** Deletion of expired rows. */
import { sql } from "kysely";
import type { Database } from "./database.ts";

/** Stored responses expire after 24 hours. */
export async function deleteExpiredIdempotencyKeys(database: Database): Promise<void> {
  await database
    .deleteFrom("idempotency_keys")
    .where("created_at", "<", sql<Date>`now() - interval '24 hours'`)
    .execute();
}
