/** Waits for the end of an operation without polling. */
import type { Database } from "../../store/database.ts";
import type { Notifications } from "../../store/notifications.ts";
import { endedChannel, hasOperationEnded } from "../../store/operations.ts";

/**
 * Resolves with true when the operation has ended, or with false after `seconds` or when `signal` is aborted.
 * An operation that does not exist counts as ended.
 */
export type WaitForOperation = (operationId: string, seconds: number, signal?: AbortSignal) => Promise<boolean>;

interface WaitServices {
  readonly database: Database;
  readonly notifications: Notifications;
}

export function makeWaitForOperation({ database, notifications }: WaitServices): WaitForOperation {
  return async (operationId, seconds, signal) => {
    const ended = Promise.withResolvers<boolean>();
    const check = () =>
      hasOperationEnded(database, operationId).then((yes) => yes && ended.resolve(true), ended.reject);
    // Subscribe first, so that an end between the two is not missed.
    const subscriptions = [
      notifications.on(endedChannel, (id) => id === operationId && ended.resolve(true)),
      notifications.onGap(check),
    ];
    let timer: NodeJS.Timeout | undefined;
    const onAbort = () => ended.resolve(false);
    signal?.addEventListener("abort", onAbort);
    if (signal?.aborted) onAbort();
    try {
      await check();
      // Start the timer only now: an operation that has ended already counts as ended even if `seconds` is 0.
      timer = setTimeout(() => ended.resolve(false), seconds * 1000);
      return await ended.promise;
    } finally {
      for (const end of subscriptions) end();
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  };
}
