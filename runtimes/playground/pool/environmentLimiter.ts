/** Limits concurrent work per environment, so that no environment can occupy all threads that they share. */
import pLimit, { type LimitFunction } from "p-limit";

interface EnvironmentLimiter {
  /** Starts the work when the environment is below its limit, first come, first served. */
  run<T>(environmentId: string, work: () => Promise<T>): Promise<T>;
}

export function createEnvironmentLimiter(maxConcurrent: number): EnvironmentLimiter {
  const limits = new Map<string, LimitFunction>();
  return {
    async run(id, work) {
      const limit = limits.get(id) ?? pLimit(maxConcurrent);
      limits.set(id, limit);
      try {
        return await limit(work);
      } finally {
        if (limit.activeCount + limit.pendingCount === 0) limits.delete(id);
      }
    },
  };
}
