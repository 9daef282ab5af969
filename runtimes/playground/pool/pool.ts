/**
 * Which worker gets which request. A worker has one environment until it is killed, and one request at a time.
 *
 * A request takes an idle worker of its environment. Otherwise a visitor's waits a moment for a busy one and
 * then, as far as the limits go, gets a new one, for which the least recently used idle worker of another
 * environment may have to go. A request that PHP made never waits for a busy worker, because the busy worker
 * may be waiting for it: it gets a new one at once, or none.
 *
 * What nobody waits for, events that a WordPress has planned, takes an idle worker too, or waits for a busy one. Where
 * there is none it gets one of its own, which is ended soon after unless a visitor came.
 *
 * What is tried out before it is served goes the same way, to workers that no visitor gets. They are kept for a
 * while as candidates: when just that is served next, they are the workers for visitors, and nobody waits for a boot.
 */
import { NoAnswer, type ServedEnvironment } from "../../serving.ts";
import {
  backgroundIdleSeconds,
  isWornOut,
  isWorthWaiting,
  limitsOf,
  lookAgainMilliseconds,
  queueLength,
  reserveForBackground,
  reserveForPhp,
  workersForItself,
} from "./limits.ts";
import { hasSameLimits, isAlike, isCandidate, isSame, type Member } from "./member.ts";
import { createQueue } from "./queue.ts";
import { createRoster, type RosterOptions, takesPlace } from "./roster.ts";

/** On whose behalf PHP is asked: a visitor's, PHP's own, which has a worker already, or nobody's who waits. */
export type OnBehalfOf = "visitor" | "php" | "background";

export interface PoolOptions extends RosterOptions {
  readonly maxWorkers: number;
  readonly idleSeconds: number;
  readonly waitSeconds: number;
  /** For how long a worker is kept after what it has was tried out. */
  readonly candidateSeconds: number;
}

export interface Pool {
  setEnvironments(environments: readonly ServedEnvironment[]): Promise<void>;
  /** Rejects with `NoAnswer`. The caller must `release` the member. */
  acquire(environmentId: string, who: OnBehalfOf, signal: AbortSignal): Promise<Member>;
  /** A member for just this value, served or not; otherwise the same. Ends candidates of the same id for other values. */
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

  const current = (member: Member) => isSame(member.environment, environments.get(member.environment.id));
  const wanted = (member: Member) => current(member) || isCandidate(member);
  const wornOut = ({ worker, environment }: Member) => isWornOut(worker, limitsOf(environment).memoryMb);
  const idle = (member: Member) => !member.isBusy && !wornOut(member);

  /** A member for this request now, or null. */
  function find(environment: ServedEnvironment, who: OnBehalfOf, waitedMilliseconds: number): Member | null {
    const mine = roster.all().filter((member) => isSame(member.environment, environment));
    // One that is at work in the background may be at it for a minute.
    const theirs = mine.filter(takesPlace);
    const { threads } = limitsOf(environment);
    const fromPhp = who === "php";
    const forPhp = theirs.filter(({ isBusy, isForPhp }) => isBusy && isForPhp).length;
    const forVisitors = theirs.filter(({ isBusy }) => isBusy).length - forPhp;
    if (!fromPhp && forVisitors >= threads) return null;
    const free = mine.find(idle);
    if (free !== undefined) return free;
    if (who === "background") return mine.length > 0 ? null : startInBackground(environment);
    if (theirs.length >= threads + (fromPhp ? workersForItself : Math.min(forPhp, workersForItself))) return null;
    const workers = theirs.map((member) => member.worker);
    if (!fromPhp && isWorthWaiting(workers, waitedMilliseconds)) return null;
    return roster.makeRoom(options.maxWorkers + (fromPhp ? reserveForPhp : 0))
      ? roster.start(environment, false)
      : null;
  }

  /** One after the other: what the one before has left behind goes first. */
  function startInBackground(environment: ServedEnvironment): Member | null {
    for (const member of roster.all().filter(({ isBusy, hasVisitors }) => !isBusy && !hasVisitors)) {
      if (!isCandidate(member)) roster.end(member);
    }
    return roster.all().length < options.maxWorkers + reserveForBackground ? roster.start(environment, true) : null;
  }

  /** A worker that a site has called from the background is not kept either. */
  function isForVisitors({ id }: ServedEnvironment, who: OnBehalfOf): boolean {
    if (who !== "php") return who === "visitor";
    const mine = roster.all().filter((member) => member.environment.id === id && member.isBusy);
    return !mine.some(({ isInBackground }) => isInBackground);
  }

  function take(environment: ServedEnvironment, who: OnBehalfOf, waitedMilliseconds: number): Member | null {
    const member = find(environment, who, waitedMilliseconds);
    if (member === null) return null;
    member.isBusy = true;
    member.isForPhp = who === "php";
    member.isInBackground = who === "background" && !member.hasVisitors;
    member.hasVisitors ||= isForVisitors(environment, who);
    member.keptUntil = current(member) ? 0 : Number.POSITIVE_INFINITY;
    return member;
  }

  function serveWaiting(): void {
    queue.serve(({ environmentId, trial, isBackground }, waitedMilliseconds) => {
      const environment = trial ?? environments.get(environmentId);
      const who = isBackground ? "background" : "visitor";
      return environment === undefined ? null : take(environment, who, waitedMilliseconds);
    });
  }

  async function acquire(environmentId: string, who: OnBehalfOf, signal: AbortSignal): Promise<Member> {
    const environment = environments.get(environmentId);
    if (environment === undefined) throw new NoAnswer("unavailable", "This environment is not served here.");
    const ahead = queue.length(environmentId);
    const found = who === "php" || ahead === 0 ? take(environment, who, 0) : null;
    if (found !== null) return found;
    if (who === "php") throw new NoAnswer("busy", "No worker is free for a request that PHP made.");
    if (ahead >= queueLength) throw new NoAnswer("busy", "Too many requests wait for this site.");
    return queue.wait({ environmentId, trial: null, isBackground: who === "background" }, signal);
  }

  async function acquireTrial(wish: ServedEnvironment, signal: AbortSignal): Promise<Member> {
    const { id } = wish;
    const limits = wish.limits ?? environments.get(id)?.limits;
    // What is tried out may take what is served may take.
    const environment = limits === undefined ? wish : { ...wish, limits };
    if (isClosed) throw new NoAnswer("unavailable", "Nothing is served here any more.");
    if (isAlike(environment, environments.get(id))) return acquire(id, "visitor", signal);
    for (const member of roster.all().filter((other) => other.environment.id === id && isCandidate(other))) {
      if (isSame(member.environment, environment)) continue;
      member.keptUntil = 0;
      if (!member.isBusy) roster.end(member);
    }
    return (
      take(environment, "visitor", 0) ??
      queue.wait({ environmentId: id, trial: environment, isBackground: false }, signal)
    );
  }

  function release(member: Member): void {
    options.rests?.(member);
    member.isBusy = false;
    member.isInBackground = false;
    if (isCandidate(member)) member.keptUntil = performance.now() + options.candidateSeconds * 1000;
    const isSurplus = roster.all().filter(takesPlace).length > options.maxWorkers;
    if (isSurplus || wornOut(member) || member.worker.isStuckBehind || !wanted(member)) roster.end(member);
    serveWaiting();
  }

  /** What was tried out is what is served now, and what is served may have other limits than before. */
  function adopt(): void {
    for (const member of roster.all()) {
      const served = environments.get(member.environment.id);
      if (served === undefined) continue;
      const isTried = isCandidate(member) && isAlike(member.environment, served);
      if (!isSame(member.environment, served) && !(isTried && hasSameLimits(member.environment, served))) continue;
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
    const gone = roster.all().filter((member) => isGone(member.environment.id));
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
        const isUnused = member.worker.lastUsed < limitOf(member) || member.worker.isStuckBehind;
        if (!member.isBusy && (isUnused || !wanted(member))) roster.end(member);
      }
    },
    Math.min(2000, options.idleSeconds * 250, options.candidateSeconds * 250),
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
    const ending = roster.all();
    for (const member of ending) roster.end(member);
    await Promise.all(ending.map(({ worker }) => worker.exited));
  }

  return { setEnvironments, acquire, acquireTrial, release, members: roster.all, close };
}
