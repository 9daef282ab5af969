/** Removes what nobody may ask for any more: answers kept for repeated requests, operations and rollouts long ended. */
import type { Database } from "../store/database.ts";
import { deleteExpiredIdempotencyKeys } from "../store/expiry.ts";
import { deleteOperations, listEndedOperations } from "../store/operations.ts";
import { deleteEndedRollouts } from "../store/packages/rollouts.ts";

/** The interface promises that an ended operation can be read for at least seven days. */
export const operationRetentionDays = 30;
const batch = 500;

export interface ExpireOptions {
  readonly database: Database;
  /** Removes what the engine keeps of operations. */
  readonly deleteJournals: (operationIds: readonly string[]) => Promise<void>;
}

export async function expire({ database, deleteJournals }: ExpireOptions): Promise<void> {
  await deleteExpiredIdempotencyKeys(database);
  await deleteEndedRollouts(database, operationRetentionDays);
  for (;;) {
    const ids = await listEndedOperations(database, operationRetentionDays, batch);
    if (ids.length === 0) return;
    // The rows go last: where this breaks off in between, the next run finds them again.
    await deleteJournals(ids);
    await deleteOperations(database, ids);
  }
}
