/**
 * Follows operations to their end without polling.
 *
 * Thousands of clients may wait for one operation. They share its subscription and the reads of its row: the first one reads
 * whether the operation has ended already, the others rely on that, and one read at the end is for all of them. They are woken
 * in portions, so that other requests are answered in between.
 */
import type { BatchedRead } from "../../store/batchedRead.ts";
import type { Notifications } from "../../store/notifications.ts";
import { endedChannel, hasEnded, type OperationRecord } from "../../store/operations.ts";

export interface OperationWaits {
  /** Returns the operation as it is now, or null if it does not exist. */
  readonly read: BatchedRead<OperationRecord>;
  /**
   * Returns the operation as soon as it has ended, or as it is after `seconds`; null if it does not exist. `onGone` gets a function
   * that ends the wait early: see `Context`.
   */
  untilEnded(
    operationId: string,
    seconds: number,
    onGone?: (listener: () => void) => void,
  ): Promise<OperationRecord | null>;
  /** Ends all waits, and later ones at once. */
  stop(): void;
}

interface WaitServices {
  readonly read: BatchedRead<OperationRecord>;
  readonly notifications: Notifications;
}

/** One client's wait. There may be thousands, so it is small. */
interface Wait {
  readonly operationId: string;
  readonly resolve: (operation: OperationRecord | null | Promise<OperationRecord | null>) => void;
  readonly reject: (error: unknown) => void;
  timer: NodeJS.Timeout | undefined;
}

/** Answering so many requests takes less than half a millisecond. Another request waits for several portions. */
const portion = 10;

export function makeOperationWaits({ read, notifications }: WaitServices): OperationWaits {
  /** By operation. Each was running after its first client had begun to listen. */
  const waiting = new Map<string, Set<Wait>>();
  let isStopped = false;

  /** Returns false if the wait had ended before. */
  function end(wait: Wait): boolean {
    if (wait.timer === undefined) return false;
    clearTimeout(wait.timer);
    wait.timer = undefined;
    const others = waiting.get(wait.operationId);
    others?.delete(wait);
    if (others?.size === 0) waiting.delete(wait.operationId);
    return true;
  }

  /** Answers one client with the operation as it is. A client that was answered goes away later. */
  function endEarly(wait: Wait): void {
    if (end(wait)) wait.resolve(read(wait.operationId));
  }

  function takeAll(operationId: string): Wait[] {
    const waits = [...(waiting.get(operationId) ?? [])];
    waiting.delete(operationId);
    return waits;
  }

  function wakeNext(waits: readonly Wait[], operation: OperationRecord | null): void {
    for (const wait of waits.slice(0, portion)) if (end(wait)) wait.resolve(operation);
    if (waits.length > portion) setImmediate(wakeNext, waits.slice(portion), operation);
  }

  /** Reads the operation, and wakes its clients if it has ended, or in any case. */
  function check(operationId: string, isWaitOver = false): void {
    read(operationId).then(
      (operation) => {
        if (isWaitOver || operation === null || hasEnded(operation)) wakeNext(takeAll(operationId), operation);
      },
      (error: unknown) => {
        for (const wait of takeAll(operationId)) if (end(wait)) wait.reject(error);
      },
    );
  }

  /** Reads the operation after adding its first client: an end in between is not missed. */
  function add(wait: Wait): void {
    const others = waiting.get(wait.operationId);
    if (others !== undefined) return void others.add(wait);
    waiting.set(wait.operationId, new Set([wait]));
    check(wait.operationId);
  }

  notifications.on(endedChannel, (operationId) => waiting.has(operationId) && check(operationId));
  notifications.onGap(() => {
    for (const operationId of waiting.keys()) check(operationId);
  });

  return {
    read,
    untilEnded(operationId, seconds, onGone) {
      if (isStopped) return read(operationId);
      const { promise, resolve, reject } = Promise.withResolvers<OperationRecord | null>();
      const wait: Wait = { operationId, resolve, reject, timer: undefined };
      wait.timer = setTimeout(endEarly, seconds * 1000, wait);
      onGone?.(() => endEarly(wait));
      add(wait);
      return promise;
    },
    stop() {
      isStopped = true;
      for (const operationId of waiting.keys()) check(operationId, true);
    },
  };
}
