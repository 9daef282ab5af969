/** Limits concurrent work per payer, so that no payer can occupy all threads that they share. */
import pLimit, { type LimitFunction } from "p-limit";

interface PayerLimiter {
  /** Starts the work when the payer is below its limit, first come, first served. */
  run<T>(payer: string, work: () => Promise<T>): Promise<T>;
}

export function createPayerLimiter(maxConcurrent: number): PayerLimiter {
  const limits = new Map<string, LimitFunction>();
  return {
    async run(payer, work) {
      const limit = limits.get(payer) ?? pLimit(maxConcurrent);
      limits.set(payer, limit);
      try {
        return await limit(work);
      } finally {
        if (limit.activeCount + limit.pendingCount === 0) limits.delete(payer);
      }
    },
  };
}
