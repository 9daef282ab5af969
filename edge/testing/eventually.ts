import { vi } from "vitest";

/**
 * Retries `attempt` until it doesn't throw, and resolves with its result. The timeout is long because tests share the
 * machine.
 */
export function eventually<T>(attempt: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(attempt, { timeout: 30_000, interval: 20 });
}
