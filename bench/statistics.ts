/** Figures of a list of measurements, in the unit of the list. */

/** The value below which `share` (0 to 1) of the measurements lie: nearest rank, so always one that was measured. */
export function percentile(measurements: readonly number[], share: number): number {
  const sorted = measurements.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (value === undefined) throw new RangeError("No measurements");
  return value;
}

export const median = (measurements: readonly number[]): number => percentile(measurements, 0.5);

/** Runs `work` and returns how long it took, in milliseconds, and what it gave. */
export async function timed<T>(work: () => Promise<T>): Promise<{ milliseconds: number; value: T }> {
  const began = performance.now();
  const value = await work();
  return { milliseconds: performance.now() - began, value };
}
