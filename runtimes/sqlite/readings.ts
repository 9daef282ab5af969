/**
 * What the readers of many sites' databases share: companies take turns, and a database whose reading never ended is read less
 * and less often.
 */
import { availableParallelism } from "node:os";
import type { JobFiles } from "../confinement.ts";
import type { EnvironmentRef } from "../runtime.ts";
import { createTurns } from "../turns.ts";

const total = Math.max(2, availableParallelism());

/** Limits the processes that read databases without anyone waiting for them. */
export const readingTurns = createTurns({ total, perParty: Math.ceil(total / 2) });

/** Whose turn it is. A batch may be of many companies. */
export function partyOf(batch: readonly EnvironmentRef[]): string {
  const [only] = batch;
  return only === undefined || batch.length > 1 ? "" : (only.companyId ?? only.id);
}

/** Whose files one process reads. Its time counts towards a company only if all of the batch is that company's. */
export function jobSource([first, ...others]: readonly [EnvironmentRef, ...EnvironmentRef[]]): JobFiles["source"] {
  const { number, companyId } = first;
  const isOfOne = companyId !== undefined && others.every((other) => other.companyId === companyId);
  return isOfOne ? { number, companyId } : { number };
}

/** Pause after a reading that never ended; doubles with each failure. Milliseconds. */
const minPause = 60_000;
const maxPause = 3_600_000;

/** Environments whose database could not be read in time, by id. */
export interface Suspects {
  has(id: string): boolean;
  /** Whether it is too early to read it again. */
  isPaused(id: string): boolean;
  addFailure(id: string): void;
  remove(id: string): void;
}

/** `now`: milliseconds; absent: since this process began. */
export function createSuspects(now: () => number = () => performance.now()): Suspects {
  const suspects = new Map<string, { readonly failures: number; readonly pausedUntil: number }>();
  return {
    has: (id) => suspects.has(id),
    isPaused: (id) => now() < (suspects.get(id)?.pausedUntil ?? 0),
    addFailure: (id) => {
      const failures = (suspects.get(id)?.failures ?? 0) + 1;
      const duration = Math.min(maxPause, minPause * 2 ** (failures - 1));
      suspects.set(id, { failures, pausedUntil: now() + duration });
    },
    remove: (id) => void suspects.delete(id),
  };
}
