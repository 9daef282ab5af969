/** Changes of what the edge is told that are in force when the request is answered. */
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { edgeGenerations } from "@sitewright/server/store/generations.ts";
import type { Context } from "../context.ts";

/**
 * Makes the change in the request's transaction, announces it there, so that another process tells the edge where this one
 * dies before it does, and has the edge told before the answer.
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
