/** Bounds how many operations wait for an environment. */
import type { AcceptOperation } from "@sitewright/server/operations/engine/accept.ts";
import { areWaiting } from "@sitewright/server/store/locks.ts";
import { QueueFull } from "./failures.ts";

/** Each waiting operation makes the choice of the next one longer, for all companies. */
const maxWaiting = 100;

/** Returns the function with this bound. Throws `QueueFull` beyond it. */
export function boundQueue(acceptOperation: AcceptOperation): AcceptOperation {
  return async (transaction, request) => {
    if (await areWaiting(transaction, request.locks, maxWaiting)) throw new QueueFull();
    return acceptOperation(transaction, request);
  };
}
