/** Requests that wait for a worker, in the order in which they came. */
import { NoAnswer, type ServedEnvironment } from "../../serving.ts";
import type { Member } from "./member.ts";

/** What a request waits for: a worker of what is served under this id at the time, or of what is tried out. */
export interface Wanted {
  readonly environmentId: string;
  readonly trial: ServedEnvironment | null;
  /** Background work. */
  readonly isBackground: boolean;
}

interface Waiter extends Wanted {
  readonly since: number;
  readonly resolve: (member: Member) => void;
  readonly reject: (error: unknown) => void;
}

export interface Queue {
  /** Rejects with `NoAnswer` after `waitSeconds`, and when the visitor goes away. */
  wait(wanted: Wanted, signal: AbortSignal): Promise<Member>;
  /** How many visitors of this environment wait. */
  length(environmentId: string): number;
  /** Asks `find` for each in turn; what it throws is theirs who waited. Null: nothing yet, for nobody behind either. */
  serve(find: (wanted: Wanted, waitedMilliseconds: number) => Member | null): void;
  /** Rejects those who wait for something that is over. */
  dismiss(isOver: (wanted: Wanted) => boolean): void;
}

export function createQueue(waitSeconds: number): Queue {
  let waiters: readonly Waiter[] = [];

  /** False if there is nothing for this one yet. */
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
        const abort = () => waiter.reject(new NoAnswer("unavailable", "The visitor went away."));
        const deadline = setTimeout(
          () => waiter.reject(new NoAnswer("busy", "Every worker was busy for too long.")),
          waitSeconds * 1000,
        );
        signal.addEventListener("abort", abort);
        waiters = [...waiters, waiter];
      }),
    length: (environmentId) =>
      waiters.filter(
        (waiter) => waiter.trial === null && !waiter.isBackground && waiter.environmentId === environmentId,
      ).length,
    serve: (find) => {
      const now = performance.now();
      /** If the first in line gets nothing, no one behind it does. */
      const without = new Set<unknown>();
      for (const waiter of waiters) {
        // Visitors may get what is not for the background, which therefore never stands before them.
        const line = waiter.trial ?? (waiter.isBackground ? waiter : waiter.environmentId);
        if (without.has(line)) continue;
        if (!settle(waiter, () => find(waiter, now - waiter.since))) without.add(line);
      }
    },
    dismiss: (isOver) => {
      for (const waiter of waiters) {
        if (isOver(waiter)) waiter.reject(new NoAnswer("unavailable", "This environment is not served any more."));
      }
    },
  };
}
