/**
 * Which worker gets which request. A worker has one environment until it is killed, and one request at a time.
 *
 * A request takes an idle worker of its environment. Otherwise a visitor's waits a moment for a busy one and
 * then, as far as the limits go, gets a new one, for which the least recently used idle worker of another
 * environment may have to go. A request that PHP made never waits for a busy worker, because the busy worker
 * may be waiting for it: it gets a new one at once, or none.
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

export interface PoolOptions {
  readonly maxWorkers: number;
  readonly idleSeconds: number;
  readonly waitSeconds: number;
  /** Makes a worker for the environment, from a spare where there is a fitting one. */
  start(environment: ServedEnvironment): WorkerProcess;
}

export interface Member {
  readonly worker: WorkerProcess;
  readonly environment: ServedEnvironment;
  isBusy: boolean;
}

export interface Pool {
  setEnvironments(environments: readonly ServedEnvironment[]): Promise<void>;
  /** Rejects with `NoAnswer`. Whoever gets a member owes `release`. */
  acquire(environmentId: string, fromPhp: boolean, signal: AbortSignal): Promise<Member>;
  release(member: Member): void;
  members(): readonly Member[];
  close(): Promise<void>;
}

interface Waiter {
  readonly environmentId: string;
  readonly since: number;
  readonly resolve: (member: Member) => void;
  readonly reject: (error: unknown) => void;
}

function isSame(a: ServedEnvironment, b: ServedEnvironment | undefined): boolean {
  return (
    b !== undefined && a.release === b.release && a.phpVersion === b.phpVersion && a.documentRoot === b.documentRoot
  );
}

export function createPool(options: PoolOptions): Pool {
  let environments = new Map<string, ServedEnvironment>();
  let members: Member[] = [];
  let waiters: Waiter[] = [];

  const current = (member: Member) => isSame(member.environment, environments.get(member.environment.id));
  const usable = (id: string) => members.filter((member) => member.environment.id === id && current(member));
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
    const member: Member = { worker: startWorker(environment), environment, isBusy: true };
    members.push(member);
    void member.worker.exited.then(() => {
      members = members.filter((other) => other !== member);
      serveWaiting();
    });
    return member;
  }

  /** A member for this request now, or null. */
  function find(environment: ServedEnvironment, fromPhp: boolean, waitedMilliseconds: number): Member | null {
    const mine = usable(environment.id);
    const free = mine.find(idle);
    if (free !== undefined) {
      free.isBusy = true;
      return free;
    }
    const most = fromPhp ? workersPerEnvironment : visitorWorkers;
    if (mine.length >= most) return null;
    const workers = mine.map((member) => member.worker);
    if (!fromPhp && isWorthWaiting(workers, waitedMilliseconds)) return null;
    return makeRoom(options.maxWorkers + (fromPhp ? reserveForPhp : 0)) ? start(environment) : null;
  }

  function serveWaiting(): void {
    const now = performance.now();
    /** Where the first who waits gets nothing, nobody behind does. */
    const without = new Set<string>();
    for (const waiter of waiters) {
      if (without.has(waiter.environmentId)) continue;
      if (!serve(waiter, now)) without.add(waiter.environmentId);
    }
  }

  /** False where there is nothing for this one yet. */
  function serve(waiter: Waiter, now: number): boolean {
    const environment = environments.get(waiter.environmentId);
    if (environment === undefined) return false;
    try {
      const member = find(environment, false, now - waiter.since);
      if (member === null) return false;
      waiter.resolve(member);
    } catch (error) {
      waiter.reject(error);
    }
    return true;
  }

  function wait(environmentId: string, signal: AbortSignal): Promise<Member> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiters = waiters.filter((other) => other !== waiter);
        clearTimeout(deadline);
        signal.removeEventListener("abort", abort);
      };
      const waiter: Waiter = {
        environmentId,
        since: performance.now(),
        resolve: (member) => {
          leave();
          resolve(member);
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      };
      const abort = () => waiter.reject(new NoAnswer("unavailable", "The visitor went away."));
      const deadline = setTimeout(
        () => waiter.reject(new NoAnswer("busy", "Every worker was busy for too long.")),
        options.waitSeconds * 1000,
      );
      signal.addEventListener("abort", abort);
      waiters.push(waiter);
    });
  }

  async function acquire(environmentId: string, fromPhp: boolean, signal: AbortSignal): Promise<Member> {
    const environment = environments.get(environmentId);
    if (environment === undefined) throw new NoAnswer("unavailable", "This environment is not served here.");
    const isFirst = !waiters.some((waiter) => waiter.environmentId === environmentId);
    const found = fromPhp || isFirst ? find(environment, fromPhp, 0) : null;
    if (found !== null) return found;
    if (fromPhp) throw new NoAnswer("busy", "No worker is free for a request that PHP made.");
    const ahead = waiters.filter((waiter) => waiter.environmentId === environmentId).length;
    if (ahead >= queueLength) throw new NoAnswer("busy", "Too many requests wait for this site.");
    return wait(environmentId, signal);
  }

  function release(member: Member): void {
    member.isBusy = false;
    const isSurplus = members.length > options.maxWorkers;
    if (isSurplus || isWornOut(member.worker) || !current(member)) end(member);
    serveWaiting();
  }

  async function setEnvironments(next: readonly ServedEnvironment[]): Promise<void> {
    environments = new Map(next.map((environment) => [environment.id, environment]));
    for (const waiter of waiters) {
      if (!environments.has(waiter.environmentId)) {
        waiter.reject(new NoAnswer("unavailable", "This environment is not served any more."));
      }
    }
    // A worker of an older release may finish its page; one of an environment that is gone may not.
    const gone = members.filter((member) => !environments.has(member.environment.id));
    const old = members.filter((member) => !member.isBusy && !current(member) && !gone.includes(member));
    for (const member of [...gone, ...old]) end(member);
    await Promise.all(gone.map((member) => member.worker.exited));
  }

  const sweep = setInterval(
    () => {
      const limit = performance.now() - options.idleSeconds * 1000;
      for (const member of members) if (!member.isBusy && member.worker.lastUsed < limit) end(member);
    },
    Math.min(5000, options.idleSeconds * 250),
  );
  sweep.unref();
  const lookAgain = setInterval(serveWaiting, lookAgainMilliseconds);
  lookAgain.unref();

  async function close(): Promise<void> {
    clearInterval(sweep);
    clearInterval(lookAgain);
    await setEnvironments([]);
  }

  return { setEnvironments, acquire, release, members: () => members, close };
}
