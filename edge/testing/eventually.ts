import { vi } from "vitest";

/** Resolves with what `attempt` gives once it no longer throws; patient, as machines that run tests are busy. */
export function eventually<T>(attempt: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(attempt, { timeout: 15_000, interval: 20 });
}
