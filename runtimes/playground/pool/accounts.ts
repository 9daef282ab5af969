/** What each environment has taken since this process began, and what follows from it for its workers. */
import { readFileSync } from "node:fs";
import type { DiskAllowance, EnvironmentUsage } from "../../serving.ts";
import type { WorkerProcess } from "../worker/process.ts";
import { type Load, observe, stepsFor, usualSteps } from "./fairness.ts";
import { isNew, limitsOf } from "./limits.ts";
import { isCandidate, type Member } from "./member.ts";

/** The half-life of an environment's usage, for its priority and for display. */
const priorityHalfLife = 3_000;
const recentHalfLife = 120_000;
const lookMilliseconds = 500;
/** Of Linux, on every machine. */
const tickMilliseconds = 10;
const nanosecondsPerMillisecond = 1e6;
const nothing: Taken = { got: 0, wanted: 0 };
/** Less than this can't be told from none. */
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
  /** Not part of a load yet, in milliseconds: what it got of the processors, and what its workers got or waited for. */
  pending = { got: 0, wanted: 0 };
  got: Load = { cores: 0, at: performance.now() };
  wanted: Load = { cores: 0, at: performance.now() };
  recent: Load = { cores: 0, at: performance.now() };
  steps = usualSteps;
  /** Since it was measured then. */
  grown = { bytes: 0, measuredAt: 0 };

  /** By how much it may grow now; null: by anything. */
  left(disk: DiskAllowance | null): number | null {
    if (disk === null) return null;
    if (disk.measuredAt !== this.grown.measuredAt) this.grown = { bytes: 0, measuredAt: disk.measuredAt };
    return disk.leftBytes - this.grown.bytes;
  }
}

/** A member of the pool, as far as anything is asked of it here. */
export interface AccountedMember extends Pick<Member, "environment" | "isBusy" | "keptUntil"> {
  readonly worker: Pick<WorkerProcess, "pid" | "requests" | "firstBegan" | "standBack">;
}

export interface Accounts {
  of(environmentId: string): Account;
  /** The worker has its environment from now on; its earlier usage is not attributed. */
  opened(worker: AccountedMember["worker"]): void;
  /** Takes down what the worker has taken since it was looked at. */
  look(member: AccountedMember): void;
  usage(): readonly EnvironmentUsage[];
  close(): void;
}

export interface Taken {
  /** Processor time of all its threads, ended ones included, in milliseconds. */
  readonly got: number;
  /** What PHP's own thread got, and for how long it waited for a processor: how much it would take of an idle machine. */
  readonly wanted: number;
}

/** Null if the system doesn't say, or the process is gone. */
function takenBy(pid: number): Taken | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name before may hold anything, brackets and spaces included.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const got = (Number(fields[11]) + Number(fields[12])) * tickMilliseconds;
    return { got, wanted: wantedBy(pid) ?? got };
  } catch {
    return null;
  }
}

/** Null if the system does not count it. */
function wantedBy(pid: number): number | null {
  try {
    const [ran = "", waited = ""] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ");
    return (Number(ran) + Number(waited)) / nanosecondsPerMillisecond;
  } catch {
    return null;
  }
}

/** Looks at `members` now and then, and has those of busy environments step back. `measure` is asked for a process's id. */
export function createAccounts(
  members: () => readonly AccountedMember[],
  measure: (pid: number) => Taken | null = takenBy,
): Accounts {
  const accounts = new Map<string, Account>();
  const seen = new WeakMap<AccountedMember["worker"], Taken>();

  function of(environmentId: string): Account {
    const account = accounts.get(environmentId) ?? new Account();
    accounts.set(environmentId, account);
    return account;
  }

  function look({ worker, environment }: AccountedMember): void {
    const taken = measure(worker.pid);
    if (taken === null) return;
    const before = seen.get(worker) ?? nothing;
    seen.set(worker, taken);
    const got = Math.max(0, taken.got - before.got);
    const account = of(environment.id);
    account.counted.cpuMilliseconds += got;
    account.pending.got += got;
    account.pending.wanted += Math.max(0, taken.wanted - before.wanted);
  }

  function weigh(): void {
    for (const member of members()) if (member.isBusy) look(member);
    const now = performance.now();
    for (const account of accounts.values()) {
      const { got, wanted } = account.pending;
      if (wanted === 0 && account.recent.cores < idleCores) {
        const none = { cores: 0, at: now };
        Object.assign(account, { got: none, wanted: none, recent: none, steps: usualSteps });
        continue;
      }
      account.pending = { got: 0, wanted: 0 };
      account.got = observe(account.got, got, now, priorityHalfLife);
      account.wanted = observe(account.wanted, wanted, now, priorityHalfLife);
      account.recent = observe(account.recent, got, now, recentHalfLife);
      account.steps = stepsFor({ got: account.got.cores, wanted: account.wanted.cores }, account.steps);
    }
    for (const member of members()) {
      const { worker, environment } = member;
      // What is tried out is waited for by whoever changes the site; and who boots is soon done with it, if let.
      const isSpared = isCandidate(member) || isNew(worker);
      worker.standBack(isSpared ? usualSteps : of(environment.id).steps);
    }
  }

  const timer = setInterval(weigh, lookMilliseconds);
  timer.unref();

  return {
    of,
    opened: (worker) => {
      seen.set(worker, measure(worker.pid) ?? nothing);
    },
    look,
    usage: () =>
      [...accounts].map(([environmentId, { counted, recent }]) => ({
        environmentId,
        ...counted,
        recentCores: recent.cores,
      })),
    close: () => clearInterval(timer),
  };
}

/** What a request of the member's environment may write, in bytes by which its files may grow; null: anything. */
export function allowanceOf(accounts: Accounts, { environment }: Member): number | null {
  return accounts.of(environment.id).left(limitsOf(environment).disk);
}
