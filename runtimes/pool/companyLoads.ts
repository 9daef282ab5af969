/**
 * How many CPU cores the processes of each company use, and the priority that follows. All environments and processes of a
 * company count together: many environments must not give it more than one.
 */
import type { CpuTime } from "./cpuTime.ts";
import { defaultSteps, halfLife, type Load, observe, stepsFor } from "./fairness.ts";

export interface CompanyLoads {
  /** Adds CPU time that a process of the company has used. */
  add(company: string, time: CpuTime): void;
  /** Averages the times added since the last update. To be called regularly. */
  update(): void;
  /** By how many steps (`nice`) to lower the priority of the company's processes. */
  stepsOf(company: string): number;
  /** CPU cores that these companies together would use in addition if they did not have to wait. */
  waiting(companies: ReadonlySet<string>): number;
}

/** A company that uses less is forgotten. */
const idleCores = 0.001;

interface CompanyLoad {
  used: Load;
  wanted: Load;
  /** CPU time in milliseconds since the last update. */
  pending: { used: number; wanted: number };
  steps: number;
}

export function createCompanyLoads(): CompanyLoads {
  const loads = new Map<string, CompanyLoad>();

  function add(company: string, { used, wanted }: CpuTime): void {
    const none = { cores: 0, at: performance.now() };
    const load = loads.get(company) ?? {
      used: none,
      wanted: none,
      pending: { used: 0, wanted: 0 },
      steps: defaultSteps,
    };
    load.pending.used += used;
    load.pending.wanted += wanted;
    loads.set(company, load);
  }

  function update(): void {
    const now = performance.now();
    for (const [company, load] of loads) {
      // Just added: there is no time yet over which to average.
      if (load.used.at >= now) continue;
      load.used = observe(load.used, load.pending.used, now, halfLife);
      load.wanted = observe(load.wanted, load.pending.wanted, now, halfLife);
      load.pending = { used: 0, wanted: 0 };
      load.steps = stepsFor({ used: load.used.cores, wanted: load.wanted.cores }, load.steps);
      if (load.wanted.cores < idleCores) loads.delete(company);
    }
  }

  function waiting(companies: ReadonlySet<string>): number {
    const ofCompanies = [...loads].flatMap(([company, load]) => (companies.has(company) ? [load] : []));
    return ofCompanies.reduce((cores, { used, wanted }) => cores + Math.max(0, wanted.cores - used.cores), 0);
  }

  return { add, update, waiting, stepsOf: (company) => loads.get(company)?.steps ?? defaultSteps };
}
