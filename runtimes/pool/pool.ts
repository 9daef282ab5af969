/**
 * Assigns workers to requests. A worker has one environment until it is killed, and one request at a time.
 *
 * A request takes an idle worker of its environment. If there is none, a visitor's request briefly waits for a busy one,
 * and then, within the limits, gets a new worker; the least recently used idle worker of another environment may be
 * ended for it. A request from PHP gets a new worker at once, because a busy one may be waiting for the request. Only if there
 * can't be more does it wait, for seconds.
 *
 * Background work, such as WP-Cron events, also takes an idle worker or waits for a busy one. If the environment has no
 * worker, it gets one, which is ended soon after unless a visitor comes.
 *
 * Trials of releases that are not served yet work the same way, with workers that visitors don't get. These are kept for
 * a while as candidates: if that release is served next, they serve visitors, and no visitor waits for a boot.
 *
 * Companies share the workers equally; see `shares.ts`.
 */
import { runtimeOf } from "../runtimeNames.ts";
import { NoAnswer, type ServedEnvironment } from "../serving.ts";
import {
  backgroundIdleSeconds,
  isWornOut,
  limitsOf,
  queueLength,
  recheckMilliseconds,
  reserveForBackground,
  reserveForPhp,
  shouldWait,
  workersForSelfRequests,
} from "./limits.ts";
import { hasSameLimits, isCandidate, isCompatible, isInterchangeable, type Member } from "./member.ts";
import { createQueue, type Requester, type Wanted } from "./queue.ts";
import { countsTowardsMaximum, createRoster, type RosterOptions } from "./roster.ts";
import { companyOf, isAtLimit, ofCompany, reserveForShares, shareOf } from "./shares.ts";

export interface PoolOptions extends RosterOptions {
  readonly idleSeconds: number;
  readonly waitSeconds: number;
  /** How long a worker is kept after a trial. */
  readonly candidateSeconds: number;
}

interface Pool {
  setEnvironments(environments: readonly ServedEnvironment[]): Promise<void>;
  /** Gets a worker. Rejects with `NoAnswer`. The caller must `release` it. */
  acquire(environmentId: string, requester: Requester, signal: AbortSignal): Promise<Member>;
  /**
   * Gets a worker for exactly this environment value, served or not. Otherwise like `acquire`. Ends candidates of other
   * values with the same id.
   */
  acquireTrial(environment: ServedEnvironment, signal: AbortSignal): Promise<Member>;
  release(member: Member): void;
  members(): readonly Member[];
  close(): Promise<void>;
}

export function createPool(options: PoolOptions): Pool {
  let environments = new Map<string, ServedEnvironment>();
  let isClosed = false;
  const queue = createQueue(options.waitSeconds);
  const roster = createRoster(options, () => serveWaiting());

  const current = (member: Member) => isInterchangeable(member.environment, environments.get(member.environment.id));
  const wanted = (member: Member) => current(member) || isCandidate(member);
  const wornOut = ({ worker, environment }: Member) => isWornOut(worker, environment);
  const idle = (member: Member) => !member.isBusy && !wornOut(member);

  /** Finds or starts a worker for this request now, or returns null. */
  function find(environment: ServedEnvironment, requester: Requester, waitedMilliseconds: number): Member | null {
    const mine = roster.all().filter((member) => isInterchangeable(member.environment, environment));
    // Background work may take a minute.
    const counted = mine.filter(countsTowardsMaximum);
    const { threads } = limitsOf(environment);
    const fromPhp = requester === "php";
    const forPhp = counted.filter(({ isBusy, isForPhp }) => isBusy && isForPhp).length;
    const forVisitors = counted.filter(({ isBusy }) => isBusy).length - forPhp;
    const all = roster.all().filter(countsTowardsMaximum);
    if (!fromPhp && (forVisitors >= threads || isAtLimit(all, environment))) return null;
    const free = mine.find(idle);
    if (free !== undefined) return free;
    if (requester === "background") return mine.length > 0 ? null : startInBackground(environment);
    if (counted.length >= threads + (fromPhp ? workersForSelfRequests : Math.min(forPhp, workersForSelfRequests)))
      return null;
    const workers = counted.map((member) => member.worker);
    if (!fromPhp && shouldWait(workers, waitedMilliseconds)) return null;
    return makeRoom(environment, fromPhp ? reserveForPhp : 0) ? roster.start(environment, false) : null;
  }

  /** Makes room for one more worker; above the maximum and `reserve` only if the company has less than its share. */
  function makeRoom(environment: ServedEnvironment, reserve: number): boolean {
    const company = companyOf(environment);
    const allowed = options.maxWorkers + reserve;
    if (roster.makeRoom(environment, allowed)) return true;
    const counted = roster.all().filter(countsTowardsMaximum);
    const has = ofCompany(counted, company).length;
    if (has >= shareOf(counted, company, options.maxWorkers, performance.now())) return false;
    return roster.makeRoom(environment, allowed + reserveForShares(options.maxWorkers, has));
  }

  /** Background work for different environments runs one after the other: ends the previous background worker first. */
  function startInBackground(environment: ServedEnvironment): Member | null {
    for (const member of roster.all().filter(({ isBusy, hasVisitors }) => !isBusy && !hasVisitors)) {
      if (!isCandidate(member)) roster.end(member);
    }
    const working = roster.all().filter(({ isInBackground }) => isInBackground);
    const isFirst = ofCompany(working, companyOf(environment)).length === 0;
    const reserve = reserveForBackground + (isFirst ? reserveForShares(options.maxWorkers, 0) : 0);
    return roster.all().length < options.maxWorkers + reserve ? roster.start(environment, true) : null;
  }

  /** Whether the request serves visitors, directly or indirectly. A request from PHP in the background does not. */
  function isForVisitors({ id }: ServedEnvironment, requester: Requester): boolean {
    if (requester !== "php") return requester === "visitor";
    const mine = roster.all().filter((member) => member.environment.id === id && member.isBusy);
    return !mine.some(({ isInBackground }) => isInBackground);
  }

  function take(environment: ServedEnvironment, requester: Requester, waitedMilliseconds: number): Member | null {
    const member = find(environment, requester, waitedMilliseconds);
    if (member === null) return null;
    member.isBusy = true;
    member.isForPhp = requester === "php";
    member.isInBackground = requester === "background" && !member.hasVisitors;
    member.hasVisitors ||= isForVisitors(environment, requester);
    member.candidateUntil = current(member) ? 0 : Number.POSITIVE_INFINITY;
    return member;
  }

  const wantedBy = ({ environmentId, trial }: Wanted) => trial ?? environments.get(environmentId);

  function serveWaiting(): void {
    queue.serve((wanted, waitedMilliseconds) => {
      const environment = wantedBy(wanted);
      return environment === undefined ? null : take(environment, wanted.requester, waitedMilliseconds);
    }, busyWorkersOfCompany);
  }

  function busyWorkersOfCompany(wanted: Wanted): number {
    const environment = wantedBy(wanted);
    if (environment === undefined) return 0;
    return ofCompany(roster.all(), companyOf(environment)).filter(({ isBusy }) => isBusy).length;
  }

  async function acquire(environmentId: string, requester: Requester, signal: AbortSignal): Promise<Member> {
    const environment = environments.get(environmentId);
    if (environment === undefined) throw new NoAnswer("unavailable", "This environment is not served here.");
    const ahead = queue.length(environmentId, requester === "php" ? "php" : "visitor");
    const found = ahead === 0 ? take(environment, requester, 0) : null;
    if (found !== null) return found;
    if (ahead >= queueLength) throw new NoAnswer("busy", "Too many requests are waiting for this site.");
    return queue.wait({ environmentId, trial: null, requester }, signal);
  }

  async function acquireTrial(candidate: ServedEnvironment, signal: AbortSignal): Promise<Member> {
    const { id } = candidate;
    // A trial has the company and the limits of the served environment.
    const { companyId, limits } = environments.get(id) ?? {};
    const environment = { ...(companyId && { companyId }), ...(limits && { limits }), ...candidate };
    if (isClosed) throw new NoAnswer("unavailable", "The runtime is shutting down.");
    if (isCompatible(environment, environments.get(id))) return acquire(id, "visitor", signal);
    for (const member of roster.all().filter((other) => other.environment.id === id && isCandidate(other))) {
      if (isInterchangeable(member.environment, environment)) continue;
      member.candidateUntil = 0;
      if (!member.isBusy) roster.end(member);
    }
    return (
      take(environment, "visitor", 0) ??
      queue.wait({ environmentId: id, trial: environment, requester: "visitor" }, signal)
    );
  }

  function release(member: Member): void {
    options.onRest?.(member);
    member.isBusy = false;
    member.isInBackground = false;
    if (isCandidate(member)) member.candidateUntil = performance.now() + options.candidateSeconds * 1000;
    const counted = roster.all().filter(countsTowardsMaximum);
    const company = companyOf(member.environment);
    const share = shareOf(counted, company, options.maxWorkers, performance.now());
    const isAboveShare = ofCompany(counted, company).length > share;
    const isSurplus = counted.length > options.maxWorkers && isAboveShare;
    if (isSurplus || wornOut(member) || member.worker.isStuckAtLowPriority || !wanted(member)) roster.end(member);
    serveWaiting();
  }

  /** Two runtimes never serve an environment at the same time. A candidate is only tried out. */
  function isOfFormerRuntime(member: Member): boolean {
    const served = environments.get(member.environment.id);
    return served !== undefined && runtimeOf(served) !== runtimeOf(member.environment) && !isCandidate(member);
  }

  /** Updates members whose environment is now served as tried out, or has other per-request limits. */
  function updateMembers(): void {
    for (const member of roster.all()) {
      const served = environments.get(member.environment.id);
      if (served === undefined) continue;
      const wasTried = isCandidate(member) && isCompatible(member.environment, served);
      if (!isInterchangeable(member.environment, served) && !(wasTried && hasSameLimits(member.environment, served)))
        continue;
      member.environment = served;
      member.candidateUntil = 0;
    }
  }

  async function setEnvironments(next: readonly ServedEnvironment[]): Promise<void> {
    const before = environments;
    environments = new Map(next.map((environment) => [environment.id, environment]));
    const isGone = (id: string) => before.has(id) && !environments.has(id);
    queue.dismiss(({ environmentId }) => isGone(environmentId));
    updateMembers();
    // A worker of an older release may finish its request; a worker of a removed environment, or of another runtime, may not.
    const gone = roster.all().filter((member) => isGone(member.environment.id) || isOfFormerRuntime(member));
    const old = roster.all().filter((member) => !member.isBusy && !wanted(member) && !gone.includes(member));
    for (const member of [...gone, ...old]) roster.end(member);
    serveWaiting();
    await Promise.all(gone.map((member) => member.worker.exited));
  }

  const sweep = setInterval(
    () => {
      const limitOf = ({ hasVisitors }: Member) =>
        performance.now() - (hasVisitors ? options.idleSeconds : backgroundIdleSeconds) * 1000;
      for (const member of roster.all()) {
        const isUnused = member.worker.lastUsed < limitOf(member) || member.worker.isStuckAtLowPriority;
        if (!member.isBusy && (isUnused || !wanted(member))) roster.end(member);
      }
    },
    Math.min(2000, options.idleSeconds * 250, options.candidateSeconds * 250),
  );
  sweep.unref();
  const recheck = setInterval(() => {
    roster.relieveMemory();
    serveWaiting();
  }, recheckMilliseconds);
  recheck.unref();

  async function close(): Promise<void> {
    isClosed = true;
    clearInterval(sweep);
    clearInterval(recheck);
    environments = new Map();
    queue.dismiss(() => true);
    const ending = roster.all();
    for (const member of ending) roster.end(member);
    await Promise.all(ending.map(({ worker }) => worker.exited));
  }

  return { setEnvironments, acquire, acquireTrial, release, members: roster.all, close };
}
