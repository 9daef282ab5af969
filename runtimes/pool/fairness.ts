/**
 * Decides how much to lower the priority of a busy environment. An environment with few requests then nearly has a CPU
 * to itself, and nothing is lost if no other environment needs the CPU.
 */

/** Average number of CPU cores; older usage counts less and less. */
export interface Load {
  readonly cores: number;
  /** `performance.now()` of the last observation. */
  readonly at: number;
}

/** CPU cores that an environment used, and that it used or waited for. */
interface Demand {
  readonly used: number;
  readonly wanted: number;
}

/** Half-life of the loads that decide on priorities. Milliseconds. */
export const halfLife = 3_000;

/** Returns the load after `more` milliseconds of CPU time until `now`. After `halfLife` (ms) the past counts half. */
export function observe(load: Load, more: number, now: number, halfLife: number): Load {
  const elapsed = now - load.at;
  if (elapsed <= 0) return load;
  const weight = 2 ** (-elapsed / halfLife);
  return { cores: load.cores * weight + (more / elapsed) * (1 - weight), at: now };
}

/** Steps of every worker that has rendered its first page. Five steps leave about a third of the CPU time. */
export const defaultSteps = 5;
const stepsByLoad = [
  { fromCores: 0.85, steps: 19 },
  { fromCores: 0.7, steps: 14 },
  { fromCores: 0.55, steps: 9 },
];

/**
 * Returns by how many steps (`nice`) to lower the priority. Each step is about a quarter less of a contested CPU. The
 * used time decides on lowering it: an environment that waits for a busy neighbour wants much too, and must not suffer
 * for it. The wanted time decides on raising it: an environment with low priority uses less.
 */
export function stepsFor({ used, wanted }: Demand, before = defaultSteps): number {
  return Math.max(stepsOf(used), Math.min(before, stepsOf(wanted)));
}

function stepsOf(cores: number): number {
  return stepsByLoad.find(({ fromCores }) => cores >= fromCores)?.steps ?? defaultSteps;
}
