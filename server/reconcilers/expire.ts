/** Removes expired rows: idempotency keys, old operations and rollouts. */
import type { Database } from "../store/database.ts";
import { deleteExpiredIdempotencyKeys } from "../store/expiry.ts";
import { deleteOperations, listEndedOperations } from "../store/operations.ts";
import { deleteEndedRollouts } from "../store/packages/rollouts.ts";

/** The API promises that an ended operation can be read for at least seven days. */
const operationRetentionDays = 30;
const batch = 500;

export async function expire(database: Database): Promise<void> {
  await deleteExpiredIdempotencyKeys(database);
  await deleteEndedRollouts(database, operationRetentionDays);
  for (;;) {
    const ids = await listEndedOperations(database, operationRetentionDays, batch);
    if (ids.length === 0) return;
    await deleteOperations(database, ids);
  }
}
