/** Stored responses to requests with an `Idempotency-Key`. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction, Json } from "./database.ts";

export interface StoredAnswer {
  readonly requestHash: Buffer;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Encrypted by the caller. */
  readonly body: string;
}

/** Returns the response stored under the key in the last 24 hours, or null. */
export async function findStoredAnswer(
  database: Database,
  apiKeyId: string,
  key: string,
): Promise<StoredAnswer | null> {
  const stored = await database
    .selectFrom("idempotency_keys")
    .select(["request_hash", "status", "headers", "body"])
    .where("api_key_id", "=", apiKeyId)
    .where("key", "=", key)
    .where("created_at", ">=", sql<Date>`now() - interval '24 hours'`)
    .executeTakeFirst();
  if (stored === undefined) return null;
  return {
    requestHash: stored.request_hash,
    status: stored.status ?? 500,
    headers: headersOf(stored.headers),
    body: stored.body ?? "",
  };
}

/**
 * Claims the key for this transaction and returns null, or returns the response stored under it. Waits for another
 * transaction that holds the key: returns its response if it commits, and claims the key if it rolls back. A process
 * that dies in between leaves nothing behind.
 */
export async function claimIdempotencyKey(
  transaction: DatabaseTransaction,
  apiKeyId: string,
  key: string,
  requestHash: Buffer,
): Promise<StoredAnswer | null> {
  await removeExpired(transaction);
  const claimed = await transaction
    .insertInto("idempotency_keys")
    .values({ api_key_id: apiKeyId, key, request_hash: requestHash })
    .onConflict((conflict) =>
      conflict
        .columns(["api_key_id", "key"])
        .doUpdateSet({ request_hash: requestHash, status: null, headers: null, body: null, created_at: new Date() })
        .where("idempotency_keys.created_at", "<", sql<Date>`now() - interval '24 hours'`),
    )
    .returning("key")
    .executeTakeFirst();
  return claimed ? null : findStoredAnswer(transaction, apiKeyId, key);
}

function headersOf(stored: Json): Record<string, string> {
  return Object.fromEntries(Object.entries(stored ?? {}).map(([name, value]) => [name, String(value)]));
}

/** Deletes some keys older than 24 hours. Skips those that another transaction is deleting. */
async function removeExpired(transaction: DatabaseTransaction): Promise<void> {
  await sql`delete from idempotency_keys where ctid in (
    select ctid from idempotency_keys where created_at < now() - interval '24 hours' limit 100 for update skip locked
  )`.execute(transaction);
}

export async function storeAnswer(
  transaction: DatabaseTransaction,
  apiKeyId: string,
  key: string,
  answer: Pick<StoredAnswer, "status" | "headers" | "body">,
): Promise<void> {
  await transaction
    .updateTable("idempotency_keys")
    .set({ status: answer.status, headers: JSON.stringify(answer.headers), body: answer.body })
    .where("api_key_id", "=", apiKeyId)
    .where("key", "=", key)
    .execute();
}
