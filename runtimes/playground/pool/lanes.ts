/**
 * A limit for each environment, where all of them share a few threads: whatever one environment has waiting, there is a
 * thread left for another one.
 */
import pLimit, { type LimitFunction } from "p-limit";

export interface Lanes {
  /** Begins the work when fewer than so many of the environment are under way, in the order in which they came. */
  run<T>(environmentId: string, work: () => Promise<T>): Promise<T>;
}

export function createLanes(atOnce: number): Lanes {
  const limits = new Map<string, LimitFunction>();
  return {
    async run(id, work) {
      const limit = limits.get(id) ?? pLimit(atOnce);
      limits.set(id, limit);
      try {
        return await limit(work);
      } finally {
        if (limit.activeCount + limit.pendingCount === 0) limits.delete(id);
      }
    },
  };
}
