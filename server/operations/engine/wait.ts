/** Waiting for the end of an operation, without asking again and again. */
import type { Database } from "../../store/database.ts";
import type { Notifications } from "../../store/notifications.ts";
import { endedChannel, hasOperationEnded } from "../../store/operations.ts";

/**
 * Resolves when the operation has ended, when `seconds` have passed or when `signal` is aborted, whichever is
 * first; true if it has ended. An operation that does not exist counts as ended.
 */
export type WaitForOperation = (operationId: string, seconds: number, signal?: AbortSignal) => Promise<boolean>;

export interface WaitServices {
  readonly database: Database;
  readonly notifications: Notifications;
}

export function makeWaitForOperation({ database, notifications }: WaitServices): WaitForOperation {
  return async (operationId, seconds, signal) => {
    const ended = Promise.withResolvers<boolean>();
    const look = () => hasOperationEnded(database, operationId).then((yes) => yes && ended.resolve(true), ended.reject);
    // Listening comes before looking: what ends in between is announced.
    const subscriptions = [
      notifications.on(endedChannel, (id) => id === operationId && ended.resolve(true)),
      notifications.onGap(look),
    ];
    let timer: NodeJS.Timeout | undefined;
    const onAbort = () => ended.resolve(false);
    signal?.addEventListener("abort", onAbort);
    if (signal?.aborted) onAbort();
    try {
      await look();
      // Not before: however short the time, what had ended when this was asked has ended.
      timer = setTimeout(() => ended.resolve(false), seconds * 1000);
      return await ended.promise;
    } finally {
      for (const end of subscriptions) end();
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  };
}
