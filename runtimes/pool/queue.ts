/** Queue of requests that wait for a worker. Within a line first come, first served; the lines take turns. */
import { NoAnswer, type ServedEnvironment } from "../serving.ts";
import type { Member } from "./member.ts";

/** Who sent a request: a visitor, PHP (which already occupies a worker), or background work. */
export type Requester = "visitor" | "php" | "background";

/**
 * PHP waits no longer than this, because the workers that it waits for may wait for it. Much of what PHP sends to its own site is meant
 * to run while nobody waits for the response, such as the queues of shops.
 */
const phpWaitSeconds = 5;

/** What a request waits for: a worker for the environment that is served under this id at the time, or for a trial. */
export interface Wanted {
  readonly environmentId: string;
  readonly trial: ServedEnvironment | null;
  /** Who sent the request. */
  readonly requester: Requester;
}

interface Waiter extends Wanted {
  readonly since: number;
  readonly resolve: (member: Member) => void;
  readonly reject: (error: unknown) => void;
}

interface Queue {
  /** Rejects with `NoAnswer` after `waitSeconds` or the time for PHP, and when the visitor goes away. */
  wait(wanted: Wanted, signal: AbortSignal): Promise<Member>;
  /** Number of requests of visitors or PHP that wait for this environment. */
  length(environmentId: string, requester: "visitor" | "php"): number;
  /**
   * Calls `find` for the first request of each line, those with the lowest `rank` first and of these the one that has waited
   * longest; an error rejects that request. Ranks are compared again after each request that got a worker. If `find` returns
   * null, the requests behind it in the same line keep waiting too.
   */
  serve(find: (wanted: Wanted, waitedMilliseconds: number) => Member | null, rank: (wanted: Wanted) => number): void;
  /** Rejects requests that wait for something that is gone. */
  dismiss(isGone: (wanted: Wanted) => boolean): void;
}

/** Visitors and PHP may get workers that others can't. Each background request has its own line. */
function lineOf(waiter: Waiter): unknown {
  const { trial, requester, environmentId } = waiter;
  return trial ?? (requester === "background" ? waiter : `${requester} ${environmentId}`);
}

/** Returns the lines that are not empty, with their first requests, in the order in which they get workers. */
function inTurn(lines: ReadonlySet<Waiter[]>, rank: (wanted: Wanted) => number) {
  return [...lines]
    .flatMap((line) => line.slice(0, 1).map((first) => ({ line, first, rank: rank(first) })))
    .toSorted((one, other) => one.rank - other.rank || one.first.since - other.first.since);
}

export function createQueue(waitSeconds: number): Queue {
  let waiters: readonly Waiter[] = [];

  /** Settles one request. Returns false if there is no worker for it yet. */
  function settle(waiter: Waiter, find: () => Member | null): boolean {
    try {
      const member = find();
      if (member === null) return false;
      waiter.resolve(member);
    } catch (error) {
      waiter.reject(error);
    }
    return true;
  }

  return {
    wait: (wanted, signal) =>
      new Promise((resolve, reject) => {
        const leave = () => {
          waiters = waiters.filter((other) => other !== waiter);
          clearTimeout(deadline);
          signal.removeEventListener("abort", abort);
        };
        const waiter: Waiter = {
          ...wanted,
          since: performance.now(),
          resolve: (member) => {
            leave();
            resolve(member);
          },
          reject: (error) => {
            leave();
            reject(error);
          },
        };
        const abort = () => waiter.reject(new NoAnswer("unavailable", "The visitor has disconnected."));
        const deadline = setTimeout(
          () => waiter.reject(new NoAnswer("busy", "All workers were busy for too long.")),
          (wanted.requester === "php" ? Math.min(phpWaitSeconds, waitSeconds) : waitSeconds) * 1000,
        );
        // PHP closes many connections at once, and expects its request to be served all the same.
        if (wanted.requester !== "php") signal.addEventListener("abort", abort);
        waiters = [...waiters, waiter];
      }),
    length: (environmentId, requester) =>
      waiters.filter(
        (waiter) => waiter.trial === null && waiter.requester === requester && waiter.environmentId === environmentId,
      ).length,
    serve: (find, rank) => {
      const now = performance.now();
      const lines = new Set(Map.groupBy(waiters, lineOf).values());
      /** Settles the first request that can be, and removes the lines before it. */
      const settleOne = (): boolean => {
        for (const { line, first } of inTurn(lines, rank)) {
          if (settle(first, () => find(first, now - first.since))) return line.shift() !== undefined;
          lines.delete(line);
        }
        return false;
      };
      while (settleOne());
    },
    dismiss: (isGone) => {
      for (const waiter of waiters) {
        if (isGone(waiter)) waiter.reject(new NoAnswer("unavailable", "This environment is no longer served."));
      }
    },
  };
}
