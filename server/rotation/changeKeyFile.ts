import type { Database } from "../store/database.ts";
import { lockRotation } from "../store/sealedValues.ts";

/** Changes a key file, which only one process may do at a time. */
export function changeKeyFile(database: Database, work: () => Promise<unknown>): Promise<void> {
  return database.transaction().execute(async (transaction) => {
    await lockRotation(transaction);
    await work();
  });
}
