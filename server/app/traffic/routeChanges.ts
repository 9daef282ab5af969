/** Changes that the edge applies before the request is answered. */
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { edgeGenerations } from "@sitewright/server/store/generations.ts";
import type { Context } from "../context.ts";

/**
 * Makes the change in the request's transaction and publishes it to the edge after the commit, before the answer. The change
 * is also announced in the transaction, so that another process publishes it if this one dies first.
 */
export function changeRoutes<T>(
  context: Context,
  change: (transaction: DatabaseTransaction) => Promise<T>,
): Promise<T> {
  context.afterCommit(context.publishRoutes);
  return context.inTransaction(async (transaction) => {
    const result = await change(transaction);
    await edgeGenerations.announce(transaction);
    return result;
  });
}
