/**
 * Resource usage of each environment since this process started, and the worker priorities that follow from that of each
 * company.
 */
import { readFileSync } from "node:fs";
import type { DiskAllowance, EnvironmentUsage } from "../../serving.ts";
import type { WorkerProcess } from "../worker/process.ts";
import { defaultSteps, type Load, observe, stepsFor } from "./fairness.ts";
import { isAtFirstRequest, limitsOf } from "./limits.ts";
import { isCandidate, type Member } from "./member.ts";
import { companyOf } from "./shares.ts";

/** The half-life of an environment's usage, for its priority and for display. */
const priorityHalfLife = 3_000;
const recentHalfLife = 120_000;
const intervalMilliseconds = 500;
/** Linux counts CPU time in these ticks on every machine. */
const tickMilliseconds = 10;
const nanosecondsPerMillisecond = 1e6;
const noTime: CpuTime = { used: 0, wanted: 0 };
/** A load below this counts as none. */
const idleCores = 0.001;

type Counted = Omit<EnvironmentUsage, "environmentId" | "recentCores">;

class Account {
  counted: { -readonly [Name in keyof Counted]: number } = {
    phpRequests: 0,
    phpMilliseconds: 0,
    cpuMilliseconds: 0,
    killedForTime: 0,
    killedForMemory: 0,
    refusedBusy: 0,
    writes: 0,
  };
  /** CPU time in milliseconds since the last update: used, and used or waited for. */
  pending = { used: 0, wanted: 0 };
  used: Load = { cores: 0, at: performance.now() };
  wanted: Load = { cores: 0, at: performance.now() };
  recent: Load = { cores: 0, at: performance.now() };
  /** Null until it had a worker. */
  company: string | null = null;
  /** Growth of files and database since the measurement at that time. */
  grown = { bytes: 0, measuredAt: 0 };

  /** By how many bytes it may still grow; null: unlimited. */
  left(disk: DiskAllowance | null): number | null {
    if (disk === null) return null;
    if (disk.measuredAt !== this.grown.measuredAt) this.grown = { bytes: 0, measuredAt: disk.measuredAt };
    return disk.leftBytes - this.grown.bytes;
  }
}

/** The part of a pool member that is used here. */
export interface AccountedMember extends Pick<Member, "environment" | "isBusy" | "candidateUntil"> {
  readonly worker: Pick<WorkerProcess, "pid" | "requests" | "firstBegan" | "setLoadSteps">;
}

export interface Accounts {
  of(environmentId: string): Account;
  /** Starts accounting for a worker that has got its environment. Its earlier usage is not attributed. */
  opened(worker: AccountedMember["worker"]): void;
  /** Adds the worker's usage since the previous measurement to its environment. */
  measure(member: AccountedMember): void;
  usage(): readonly EnvironmentUsage[];
  close(): void;
}

export interface CpuTime {
  /** CPU time in milliseconds of all threads, including ended ones. */
  readonly used: number;
  /** CPU time of PHP's thread plus the time it waited for a CPU: what it would use on an idle machine. */
  readonly wanted: number;
}

/** Reads a process's CPU time. Null if the system doesn't report it, or the process is gone. */
function cpuTimeOf(pid: number): CpuTime | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The preceding name may contain anything, including brackets and spaces.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const used = (Number(fields[11]) + Number(fields[12])) * tickMilliseconds;
    return { used, wanted: wantedTimeOf(pid) ?? used };
  } catch {
    return null;
  }
}

/** Reads the wanted CPU time of PHP's thread. Null if the system does not count it. */
function wantedTimeOf(pid: number): number | null {
  try {
    const [ran = "", waited = ""] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ");
    return (Number(ran) + Number(waited)) / nanosecondsPerMillisecond;
  } catch {
    return null;
  }
}

/**
 * Creates the accounts. Measures `members` regularly and lowers the priority of workers of busy environments. `cpuTime`
 * measures a process.
 */
export function createAccounts(
  members: () => readonly AccountedMember[],
  cpuTime: (pid: number) => CpuTime | null = cpuTimeOf,
): Accounts {
  const accounts = new Map<string, Account>();
  const measured = new WeakMap<AccountedMember["worker"], CpuTime>();
  /** By company. */
  let steps: ReadonlyMap<string, number> = new Map();

  function of(environmentId: string): Account {
    const account = accounts.get(environmentId) ?? new Account();
    accounts.set(environmentId, account);
    return account;
  }

  function measure({ worker, environment }: AccountedMember): void {
    const time = cpuTime(worker.pid);
    if (time === null) return;
    const before = measured.get(worker) ?? noTime;
    measured.set(worker, time);
    const used = Math.max(0, time.used - before.used);
    const account = of(environment.id);
    account.company = companyOf(environment);
    account.counted.cpuMilliseconds += used;
    account.pending.used += used;
    account.pending.wanted += Math.max(0, time.wanted - before.wanted);
  }

  /** Many environments must not give a company more than one: their loads count together. */
  function updateSteps(): void {
    const loads = new Map<string, { used: number; wanted: number }>();
    for (const { company, used, wanted } of accounts.values()) {
      if (company === null) continue;
      const load = loads.get(company) ?? { used: 0, wanted: 0 };
      loads.set(company, { used: load.used + used.cores, wanted: load.wanted + wanted.cores });
    }
    steps = new Map([...loads].map(([company, load]) => [company, stepsFor(load, steps.get(company))]));
  }

  function update(): void {
    for (const member of members()) if (member.isBusy) measure(member);
    const now = performance.now();
    for (const account of accounts.values()) {
      const { used, wanted } = account.pending;
      if (wanted === 0 && account.recent.cores < idleCores) {
        const none = { cores: 0, at: now };
        Object.assign(account, { used: none, wanted: none, recent: none });
        continue;
      }
      account.pending = { used: 0, wanted: 0 };
      account.used = observe(account.used, used, now, priorityHalfLife);
      account.wanted = observe(account.wanted, wanted, now, priorityHalfLife);
      account.recent = observe(account.recent, used, now, recentHalfLife);
    }
    updateSteps();
    for (const member of members()) {
      const { worker, environment } = member;
      // Someone who changes the site waits for a trial; and booting is soon done if it is not slowed down.
      const isExempt = isCandidate(member) || isAtFirstRequest(worker);
      worker.setLoadSteps((isExempt ? null : steps.get(companyOf(environment))) ?? defaultSteps);
    }
  }

  const timer = setInterval(update, intervalMilliseconds);
  timer.unref();

  return {
    of,
    opened: (worker) => {
      measured.set(worker, cpuTime(worker.pid) ?? noTime);
    },
    measure,
    usage: () =>
      [...accounts].map(([environmentId, { counted, recent }]) => ({
        environmentId,
        ...counted,
        recentCores: recent.cores,
      })),
    close: () => clearInterval(timer),
  };
}

/** By how many bytes a request of the member's environment may grow its files and database; null: unlimited. */
export function allowanceOf(accounts: Accounts, { environment }: Member): number | null {
  return accounts.of(environment.id).left(limitsOf(environment).disk);
}
