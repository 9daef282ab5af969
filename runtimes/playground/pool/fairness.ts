/**
 * How far an environment that keeps the processors busy steps back for the others. One that is asked now and then is
 * then nearly alone with its processor, while nothing is lost where nobody else wants it.
 */

/** How many processors, on average, with what is longer ago counting less and less. */
export interface Load {
  readonly cores: number;
  /** `performance.now()` of the last observation. */
  readonly at: number;
}

/** How many processors an environment got, and how many it got or waited for. */
export interface Demand {
  readonly got: number;
  readonly wanted: number;
}

/** The load after so much more of the processors' time, in milliseconds, until `now`. After `halfLife` (ms) the past counts half. */
export function observe(load: Load, more: number, now: number, halfLife: number): Load {
  const elapsed = now - load.at;
  if (elapsed <= 0) return load;
  const kept = 2 ** (-elapsed / halfLife);
  return { cores: load.cores * kept + (more / elapsed) * (1 - kept), at: now };
}

/** As far as every worker that has made its first page: five make about a third of the time. */
export const usualSteps = 5;
const manners = [
  { fromCores: 0.85, steps: 19 },
  { fromCores: 0.7, steps: 14 },
  { fromCores: 0.55, steps: 9 },
];

/**
 * In the system's steps of priority, of which each is about a quarter less of a processor that others want, too. Further
 * back goes only who got much: whoever waits for a busy neighbour wants much as well, and is the one to be spared. And
 * whoever stands back gets less, so that forward comes only who wants less, too.
 */
export function stepsFor({ got, wanted }: Demand, before = usualSteps): number {
  return Math.max(stepsOf(got), Math.min(before, stepsOf(wanted)));
}

function stepsOf(cores: number): number {
  return manners.find(({ fromCores }) => cores >= fromCores)?.steps ?? usualSteps;
}
