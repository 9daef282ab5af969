/**
 * Resource usage of each environment since this process started, and the priorities of workers that follow.
 *
 * With control groups, which divide processor time between companies, a worker's priority follows from its environment's load: it only
 * matters next to workers of the same company. Without them, it follows from its company's load: many environments must not give a
 * company more time than one.
 */
import { availableParallelism } from "node:os";
import {
  companiesHaveGroups,
  companyTimes,
  installationTimes,
  separateLoudCompanies,
  shareWithOthers,
  weighCompanies,
} from "../processor/companies.ts";
import { makeTimeCounter, timesOfMachine } from "../processor/times.ts";
import type { DiskAllowance, EnvironmentUsage } from "../serving.ts";
import { makeBackgroundRule } from "./background.ts";
import { type CompanyUse, observeUse, weightHalfLife, weightsOf } from "./companyWeights.ts";
import { type CpuTime, cpuTimeOf, createCpuMeter } from "./cpuTime.ts";
import { defaultSteps, halfLife, type Load, observe } from "./fairness.ts";
import { isAtFirstRequest, limitsOf } from "./limits.ts";
import { createLoads } from "./loads.ts";
import { makeLoudRule } from "./loudCompanies.ts";
import { isCandidate, type Member } from "./member.ts";
import { makeOtherProgramsRule } from "./otherPrograms.ts";
import { companyOf } from "./shares.ts";
import type { Worker } from "./worker.ts";

/** The half-life of an environment's usage, for display. */
const recentHalfLife = 120_000;
const intervalMilliseconds = 500;
/** Less often, because it reads files of all companies. */
const groupsMilliseconds = 1_000;
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
  /** CPU time used since the last update, in milliseconds. */
  pending = 0;
  recent: Load = { cores: 0, at: performance.now() };
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
  readonly worker: Pick<Worker, "pid" | "requests" | "firstBegan" | "setLoadSteps">;
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

interface AccountsOptions {
  /** Measures a process. */
  readonly cpuTime?: (pid: number) => CpuTime | null;
  /** Whether control groups divide processor time between companies. */
  readonly haveGroups?: () => boolean;
}

/** Creates the accounts. Measures `members` regularly and lowers the priority of busy environments or companies. */
export function createAccounts(
  members: () => readonly AccountedMember[],
  { cpuTime = cpuTimeOf, haveGroups = companiesHaveGroups }: AccountsOptions = {},
): Accounts {
  const accounts = new Map<string, Account>();
  const meter = createCpuMeter(cpuTime);
  const companyLoads = createLoads();
  const environmentLoads = createLoads();
  const isInBackground = makeBackgroundRule(availableParallelism());
  const loudCompanies = makeLoudRule(availableParallelism());
  const timeSince = makeTimeCounter(companyTimes);
  const machineSince = makeTimeCounter(
    () => new Map(Object.entries({ machine: timesOfMachine(), installation: installationTimes() })),
  );
  const areProgramsBusy = makeOtherProgramsRule(availableParallelism(), performance.now());
  let ofLoud: Load = { cores: 0, at: performance.now() };
  let use: CompanyUse = new Map();

  function of(environmentId: string): Account {
    const account = accounts.get(environmentId) ?? new Account();
    accounts.set(environmentId, account);
    return account;
  }

  function measure({ worker, environment }: AccountedMember): void {
    const time = meter.measure(worker);
    if (time === null) return;
    const account = of(environment.id);
    account.counted.cpuMilliseconds += time.used;
    account.pending += time.used;
    companyLoads.add(companyOf(environment), time);
    environmentLoads.add(environment.id, time);
  }

  /** Someone who changes the site waits for a trial; and booting is soon done if it is not slowed down. */
  function stepsOf(member: AccountedMember): number {
    if (isCandidate(member) || isAtFirstRequest(member.worker)) return defaultSteps;
    const { environment } = member;
    return haveGroups() ? environmentLoads.stepsOf(environment.id) : companyLoads.stepsOf(companyOf(environment));
  }

  /** The milliseconds of other programs of the machine since the previous call. */
  function usedByOthers(): number {
    const { machine = 0, installation = 0 } = Object.fromEntries(machineSince());
    return Math.max(0, machine - installation);
  }

  function updateGroups(now: number): void {
    const times = timeSince();
    const loud = loudCompanies(times, now);
    const milliseconds = [...loud].reduce((sum, company) => sum + (times.get(company) ?? 0), 0);
    ofLoud = observe(ofLoud, milliseconds, now, halfLife);
    shareWithOthers({
      isInBackground: isInBackground({ waiting: companyLoads.waiting(loud), used: ofLoud.cores }, now),
      areProgramsBusy: areProgramsBusy(usedByOthers(), now),
    });
    use = observeUse(use, times, { now, halfLife: weightHalfLife });
    weighCompanies(weightsOf(use));
    void separateLoudCompanies(loud);
  }

  function update(): void {
    for (const member of members()) if (member.isBusy) measure(member);
    const now = performance.now();
    for (const account of accounts.values()) {
      const { pending, recent } = account;
      account.recent =
        pending === 0 && recent.cores < idleCores
          ? { cores: 0, at: now }
          : observe(recent, pending, now, recentHalfLife);
      account.pending = 0;
    }
    companyLoads.update();
    environmentLoads.update();
    for (const member of members()) member.worker.setLoadSteps(stepsOf(member));
  }

  const timers = [
    setInterval(update, intervalMilliseconds),
    setInterval(() => updateGroups(performance.now()), groupsMilliseconds),
  ];
  for (const timer of timers) timer.unref();

  return {
    of,
    opened: (worker) => meter.begin(worker),
    measure,
    usage: () =>
      [...accounts].map(([environmentId, { counted, recent }]) => ({
        environmentId,
        ...counted,
        recentCores: recent.cores,
      })),
    close: () => timers.forEach(clearInterval),
  };
}

/** By how many bytes a request of the member's environment may grow its files and database; null: unlimited. */
export function allowanceOf(accounts: Accounts, { environment }: Member): number | null {
  return accounts.of(environment.id).left(limitsOf(environment).disk);
}
