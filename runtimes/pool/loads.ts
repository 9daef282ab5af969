/** How many CPU cores the processes of each company, or of each environment, use, and the priority that follows. */
import type { CpuTime } from "./cpuTime.ts";
import { defaultSteps, halfLife, type Load, observe, stepsFor } from "./fairness.ts";

/** `owner`: the id of a company, or of an environment. */
export interface Loads {
  /** Adds CPU time that a process of the owner has used. */
  add(owner: string, time: CpuTime): void;
  /** Averages the times added since the last update. To be called regularly. */
  update(): void;
  /** By how many steps (`nice`) to lower the priority of the owner's processes. */
  stepsOf(owner: string): number;
  /** CPU cores that these owners together would use in addition if they did not have to wait. */
  waiting(owners: ReadonlySet<string>): number;
}

/** An owner that uses less is forgotten. */
const idleCores = 0.001;

interface OwnerLoad {
  used: Load;
  wanted: Load;
  /** CPU time in milliseconds since the last update. */
  pending: { used: number; wanted: number };
  steps: number;
}

export function createLoads(): Loads {
  const loads = new Map<string, OwnerLoad>();

  function add(owner: string, { used, wanted }: CpuTime): void {
    const none = { cores: 0, at: performance.now() };
    const load = loads.get(owner) ?? {
      used: none,
      wanted: none,
      pending: { used: 0, wanted: 0 },
      steps: defaultSteps,
    };
    load.pending.used += used;
    load.pending.wanted += wanted;
    loads.set(owner, load);
  }

  function update(): void {
    const now = performance.now();
    for (const [owner, load] of loads) {
      // Just added: there is no time yet over which to average.
      if (load.used.at >= now) continue;
      load.used = observe(load.used, load.pending.used, now, halfLife);
      load.wanted = observe(load.wanted, load.pending.wanted, now, halfLife);
      load.pending = { used: 0, wanted: 0 };
      load.steps = stepsFor({ used: load.used.cores, wanted: load.wanted.cores }, load.steps);
      if (load.wanted.cores < idleCores) loads.delete(owner);
    }
  }

  function waiting(owners: ReadonlySet<string>): number {
    const ofOwners = [...loads].flatMap(([owner, load]) => (owners.has(owner) ? [load] : []));
    return ofOwners.reduce((cores, { used, wanted }) => cores + Math.max(0, wanted.cores - used.cores), 0);
  }

  return { add, update, waiting, stepsOf: (owner) => loads.get(owner)?.steps ?? defaultSteps };
}
