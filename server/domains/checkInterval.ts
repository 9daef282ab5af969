/** Decides when to check a domain's DNS next: every few seconds at first, then less and less often. */

interface CheckState {
  /** Time since the domain was added. */
  readonly ageSeconds: number;
  /** Whether ownership is proven and the domain points here. */
  readonly isRight: boolean;
  /** Failed lookups in a row; 0 if the last one succeeded. */
  readonly failures: number;
}

const minSeconds = 5;
const maxSeconds = 6 * 3_600;
const minRetrySeconds = 10;
const maxRetrySeconds = 3_600;
/**
 * Shortens intervals by up to this fraction, so that domains that were added together are not always checked together.
 */
const spread = 0.2;

/** `random` is between 0 and 1. */
export function secondsUntilCheck({ ageSeconds, isRight, failures }: CheckState, random: number): number {
  return (1 - spread * random) * (failures > 0 ? afterFailure(failures) : afterAnswer(ageSeconds, isRight));
}

function afterFailure(failures: number): number {
  return Math.min(maxRetrySeconds, minRetrySeconds * 2 ** Math.min(failures - 1, 20));
}

/** Starts with short intervals, because people create the DNS records of a new domain at that time. */
function afterAnswer(ageSeconds: number, isRight: boolean): number {
  if (isRight) return maxSeconds;
  return Math.min(maxSeconds, Math.max(minSeconds, ageSeconds / 10));
}
