/** When a domain is looked at next: soon after something was done with it, less and less often afterwards. */

export interface Checked {
  /** Since it was added. */
  readonly ageSeconds: number;
  /** Nothing is to be waited for: it is proven and points here. */
  readonly isRight: boolean;
  /** In a row to which the resolver gave no answer; 0: it has answered. */
  readonly failures: number;
}

const soonestSeconds = 5;
const latestSeconds = 6 * 3_600;
const firstRetrySeconds = 10;
const latestRetrySeconds = 3_600;
/** By so much sooner at most, so that a thousand that were added together are not looked at together for ever. */
const spread = 0.2;

/** `random` from 0 to 1. */
export function secondsUntilCheck({ ageSeconds, isRight, failures }: Checked, random: number): number {
  return (1 - spread * random) * (failures > 0 ? afterFailure(failures) : afterAnswer(ageSeconds, isRight));
}

function afterFailure(failures: number): number {
  return Math.min(latestRetrySeconds, firstRetrySeconds * 2 ** Math.min(failures - 1, 20));
}

/** The DNS records of a new domain are probably being created at that moment. */
function afterAnswer(ageSeconds: number, isRight: boolean): number {
  if (isRight) return latestSeconds;
  return Math.min(latestSeconds, Math.max(soonestSeconds, ageSeconds / 10));
}
