/**
 * Durations in buckets that grow by the same factor, so that they can be added up over minutes and hours. A percentile is
 * exact to within about 9 percent.
 */

const bucketsPerDoubling = 4;
/** The first bucket ends at a sixteenth of a millisecond, the last one holds everything above ten minutes. */
const firstExponent = -4;
const lastBucket = 95;

/** The bucket of a duration in milliseconds. */
export function bucketOf(milliseconds: number): number {
  const bucket = Math.ceil((Math.log2(milliseconds) - firstExponent) * bucketsPerDoubling);
  return Math.min(lastBucket, Math.max(0, bucket));
}

/** The geometric middle of a bucket, in milliseconds. */
function middleOf(bucket: number): number {
  return 2 ** ((bucket - 0.5) / bucketsPerDoubling + firstExponent);
}

/**
 * The duration in milliseconds that `share` (from 0 to 1) of the counted ones did not exceed; null if there are none. `counts`
 * has the number of durations by bucket.
 */
export function percentileOf(counts: ReadonlyMap<number, number>, share: number): number | null {
  const sorted = [...counts].toSorted(([one], [other]) => one - other);
  const wanted = share * sorted.reduce((sum, [, count]) => sum + count, 0);
  let passed = 0;
  for (const [bucket, count] of sorted) {
    passed += count;
    if (count > 0 && passed >= wanted) return middleOf(bucket);
  }
  return null;
}
