/**
 * Which worker gets which request. A worker has one environment until it is killed, and one request at a time.
 *
 * A request takes an idle worker of its environment. Otherwise a visitor's waits a moment for a busy one and
 * then, as far as the limits go, gets a new one, for which the least recently used idle worker of another
 * environment may have to go. A request that PHP made never waits for a busy worker, because the busy worker
 * may be waiting for it: it gets a new one at once, or none.
 *
 * What is tried out before it is served goes the same way, to workers that no visitor gets. They are kept for a
 * while as candidates: when just that is served next, they are the workers for visitors, and nobody waits for a boot.
 */
import { NoAnswer, type ServedEnvironment } from "../../runtime.ts";
import type { WorkerProcess } from "../worker/process.ts";
import {
  isWornOut,
  isWorthWaiting,
  lookAgainMilliseconds,
  queueLength,
  reserveForPhp,
  visitorWorkers,
  workersPerEnvironment,
} from "./limits.ts";
import { isAlike, isCandidate, isSame, type Member } from "./member.ts";
import { createQueue } from "./queue.ts";

export interface PoolOptions {
  readonly maxWorkers: number;
  readonly idleSeconds: number;
  readonly waitSeconds: number;
  /** For how long a worker is kept after what it has was tried out. */
  readonly candidateSeconds: number;
  /** Makes a worker for the environment, from a spare where there is a fitting one. */
  start(environment: ServedEnvironment): WorkerProcess;
}

export interface Pool {
  setEnvironments(environments: readonly ServedEnvironment[]): Promise<void>;
  /** Rejects with `NoAnswer`. Whoever gets a member owes `release`. */
  acquire(environmentId: string, fromPhp: boolean, signal: AbortSignal): Promise<Member>;
  /** A member for just this value, served or not; otherwise the same. Ends candidates of the same id for other values. */
  acquireTrial(environment: ServedEnvironment, signal: AbortSignal): Promise<Member>;
  release(member: Member): void;
  members(): readonly Member[];
  close(): Promise<void>;
}

export function createPool(options: PoolOptions): Pool {
  let environments = new Map<string, ServedEnvironment>();
  let members: Member[] = [];
  let isClosed = false;
  const queue = createQueue(options.waitSeconds);

  const current = (member: Member) => isSame(member.environment, environments.get(member.environment.id));
  const wanted = (member: Member) => current(member) || isCandidate(member);
  const idle = (member: Member) => !member.isBusy && !isWornOut(member.worker);

  function end(member: Member): void {
    members = members.filter((other) => other !== member);
    member.worker.kill("unavailable");
  }

  /** Makes room for one more worker, if need be at the cost of idle ones; false where there is none. */
  function makeRoom(allowed: number): boolean {
    const idlest = members.filter((member) => !member.isBusy).toSorted((a, b) => a.worker.lastUsed - b.worker.lastUsed);
    const surplus = members.length + 1 - allowed;
    if (surplus > idlest.length) return false;
    for (const member of idlest.slice(0, Math.max(0, surplus))) end(member);
    return true;
  }

  function startWorker(environment: ServedEnvironment): WorkerProcess {
    try {
      return options.start(environment);
    } catch (cause) {
      throw new NoAnswer("unavailable", "No worker could be started.", { cause });
    }
  }

  function start(environment: ServedEnvironment): Member {
    const member: Member = { worker: startWorker(environment), environment, isBusy: true, keptUntil: 0 };
    members.push(member);
    void member.worker.exited.then(() => {
      members = members.filter((other) => other !== member);
      serveWaiting();
    });
    return member;
  }

  /** A member for this request now, or null. */
  function find(environment: ServedEnvironment, fromPhp: boolean, waitedMilliseconds: number): Member | null {
    const mine = members.filter((member) => isSame(member.environment, environment));
    const free = mine.find(idle);
    if (free !== undefined) return free;
    const most = fromPhp ? workersPerEnvironment : visitorWorkers;
    if (mine.length >= most) return null;
    const workers = mine.map((member) => member.worker);
    if (!fromPhp && isWorthWaiting(workers, waitedMilliseconds)) return null;
    return makeRoom(options.maxWorkers + (fromPhp ? reserveForPhp : 0)) ? start(environment) : null;
  }

  function take(environment: ServedEnvironment, fromPhp: boolean, waitedMilliseconds: number): Member | null {
    const member = find(environment, fromPhp, waitedMilliseconds);
    if (member === null) return null;
    member.isBusy = true;
    member.keptUntil = current(member) ? 0 : Number.POSITIVE_INFINITY;
    return member;
  }

  function serveWaiting(): void {
    queue.serve(({ environmentId, trial }, waitedMilliseconds) => {
      const environment = trial ?? environments.get(environmentId);
      return environment === undefined ? null : take(environment, false, waitedMilliseconds);
    });
  }

  async function acquire(environmentId: string, fromPhp: boolean, signal: AbortSignal): Promise<Member> {
    const environment = environments.get(environmentId);
    if (environment === undefined) throw new NoAnswer("unavailable", "This environment is not served here.");
    const ahead = queue.length(environmentId);
    const found = fromPhp || ahead === 0 ? take(environment, fromPhp, 0) : null;
    if (found !== null) return found;
    if (fromPhp) throw new NoAnswer("busy", "No worker is free for a request that PHP made.");
    if (ahead >= queueLength) throw new NoAnswer("busy", "Too many requests wait for this site.");
    return queue.wait({ environmentId, trial: null }, signal);
  }

  async function acquireTrial(environment: ServedEnvironment, signal: AbortSignal): Promise<Member> {
    const { id } = environment;
    if (isClosed) throw new NoAnswer("unavailable", "Nothing is served here any more.");
    if (isAlike(environment, environments.get(id))) return acquire(id, false, signal);
    for (const member of members.filter((other) => other.environment.id === id && isCandidate(other))) {
      if (isSame(member.environment, environment)) continue;
      member.keptUntil = 0;
      if (!member.isBusy) end(member);
    }
    return take(environment, false, 0) ?? queue.wait({ environmentId: id, trial: environment }, signal);
  }

  function release(member: Member): void {
    member.isBusy = false;
    if (isCandidate(member)) member.keptUntil = performance.now() + options.candidateSeconds * 1000;
    const isSurplus = members.length > options.maxWorkers;
    if (isSurplus || isWornOut(member.worker) || !wanted(member)) end(member);
    serveWaiting();
  }

  /** What was tried out is what is served now. */
  function adopt(): void {
    for (const member of members) {
      const served = environments.get(member.environment.id);
      if (served === undefined || !isCandidate(member) || !isAlike(member.environment, served)) continue;
      member.environment = served;
      member.keptUntil = 0;
    }
  }

  async function setEnvironments(next: readonly ServedEnvironment[]): Promise<void> {
    const before = environments;
    environments = new Map(next.map((environment) => [environment.id, environment]));
    const isGone = (id: string) => before.has(id) && !environments.has(id);
    queue.dismiss(({ environmentId }) => isGone(environmentId));
    adopt();
    // A worker of an older release may finish its page; one of an environment that is gone may not.
    const gone = members.filter((member) => isGone(member.environment.id));
    const old = members.filter((member) => !member.isBusy && !wanted(member) && !gone.includes(member));
    for (const member of [...gone, ...old]) end(member);
    serveWaiting();
    await Promise.all(gone.map((member) => member.worker.exited));
  }

  const sweep = setInterval(
    () => {
      const limit = performance.now() - options.idleSeconds * 1000;
      for (const member of members) {
        if (!member.isBusy && (member.worker.lastUsed < limit || !wanted(member))) end(member);
      }
    },
    Math.min(5000, options.idleSeconds * 250, options.candidateSeconds * 250),
  );
  sweep.unref();
  const lookAgain = setInterval(serveWaiting, lookAgainMilliseconds);
  lookAgain.unref();

  async function close(): Promise<void> {
    isClosed = true;
    clearInterval(sweep);
    clearInterval(lookAgain);
    environments = new Map();
    queue.dismiss(() => true);
    const ending = members;
    for (const member of ending) end(member);
    await Promise.all(ending.map(({ worker }) => worker.exited));
  }

  return { setEnvironments, acquire, acquireTrial, release, members: () => members, close };
}
