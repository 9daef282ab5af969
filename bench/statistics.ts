/** Statistics of a list of measurements, in the same unit. */

/** The percentile for a share from 0 to 1, by nearest rank: always one of the measurements. */
export function percentile(measurements: readonly number[], share: number): number {
  const sorted = measurements.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (value === undefined) throw new RangeError("No measurements");
  return value;
}

export const median = (measurements: readonly number[]): number => percentile(measurements, 0.5);

/** Runs `work` and returns its duration in milliseconds and its result. */
export async function timed<T>(work: () => Promise<T>): Promise<{ milliseconds: number; value: T }> {
  const startedAt = performance.now();
  const value = await work();
  return { milliseconds: performance.now() - startedAt, value };
}
