/**
 * Slows down programs that guess passwords.
 *
 * After a few failed logins, a network gets no further attempts at that site for a while. A success forgives only failures of
 * the same user: otherwise the owner of any account could guess the passwords of others without limit. For a user who has
 * logged in from the network before, only his own failures count, so that his programs work next to a neighbour's.
 *
 * Attempts that are still running count as failed, so that many at once gain nothing. Those at the login form take turns.
 * Programs with a password send many requests at once, and forms of plugins look like any other request, so these are not
 * held up, but judged when PHP begins with them: as few run at once as PHP has workers.
 *
 * If a site has many failures from many networks, locking it would lock out its owner as well: attempts then take turns
 * instead, and networks that have logged in before need not wait.
 *
 * Everything is in memory, and bounded: if there are too many networks or sites, the least recently used are forgotten.
 */
import { LRUCache } from "lru-cache";

export type LoginOutcome = "failed" | "succeeded";

/** Who tries to log in where. */
export interface LoginTarget {
  readonly environmentId: string;
  /** As returned by `networkOf`. */
  readonly network: string;
  /** In lower case. Null if only PHP can tell. */
  readonly user: string | null;
}

export interface LoginTry extends LoginTarget {
  /** `program`: in the REST API or XML-RPC. */
  readonly by: "form" | "program";
}

export interface LoginTurn {
  readonly kind: "allowed";
  /** Called when PHP begins with the attempt. False if PHP must refuse it. */
  begin(): boolean;
  /** Records the outcome, unless the attempt was refused. `user` is null if PHP did not name one. */
  note(outcome: LoginOutcome, user: string | null): void;
  /** Must be called when the attempt is over. */
  leave(): void;
}

export interface LoginRefusal {
  readonly kind: "refused";
  /** `failures`: of this network. `full`: too many others are waiting. */
  readonly reason: "failures" | "full";
  /** When to try again. */
  readonly seconds: number;
}

export interface LoginBrake {
  /** Waits until the attempt may start. `left` aborts when the visitor leaves, which refuses it. */
  enter(attempt: LoginTry, left: AbortSignal): Promise<LoginTurn | LoginRefusal>;
  /** For a request that may be a login, among others. It never waits, and is judged when it begins. */
  watch(target: LoginTarget): LoginTurn;
  /** Null if logins are accepted now. */
  refusalOf(target: LoginTarget): LoginRefusal | null;
}

/** Failed logins within that time after which a network is refused. */
const maxFailures = 5;
const windowMilliseconds = 600_000;
/** Failed logins of all networks after which a site's attempts take turns. A network counts with its first few only. */
const maxSiteFailures = 50;
const maxWaiting = 50;
const maxWaitingPerNetwork = 3;
const maxWaitMilliseconds = 20_000;
/** For visitors for whom there is no place to wait, or no turn soon. */
const full: LoginRefusal = { kind: "refused", reason: "full", seconds: 10 };

const maxNetworks = 50_000;
const maxSites = 10_000;

interface Failure {
  /** As PHP reports it. Only a success of this user forgives the failure. */
  readonly user: string | null;
  /** In the request. It may have tried another user's password in its body as well. */
  readonly claimed: string | null;
  readonly at: number;
}

interface NetworkAttempts {
  /** Oldest first. */
  failures: readonly Failure[];
  /** Attempts that have a turn. */
  running: number;
  /** Attempts without a turn with which PHP has begun. */
  begun: number;
}

interface Waiting {
  readonly attempt: LoginTry;
  readonly settle: (turn: LoginTurn | LoginRefusal) => void;
}

interface SiteAttempts {
  /** Number of failures by network. */
  failures: Map<string, number>;
  countedSince: number;
  /** Attempts from networks that have not logged in before. */
  running: number;
  waiting: Waiting[];
}

function once(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    run();
  };
}

function keyOf({ environmentId, network, user }: LoginTarget): string {
  return user === null ? `${environmentId} ${network}` : `${environmentId} ${network} ${user}`;
}

/** `now` returns monotonic milliseconds. */
export function createLoginBrake(now: () => number = () => performance.now()): LoginBrake {
  const networks = new LRUCache<string, NetworkAttempts>({ max: maxNetworks });
  const sites = new LRUCache<string, SiteAttempts>({ max: maxSites });
  /** Networks that have logged in, and networks with the user who has. */
  const known = new LRUCache<string, true>({ max: maxNetworks });

  const isKnown = (target: LoginTarget) => known.has(keyOf(target));

  function networkAt({ environmentId, network }: LoginTarget): NetworkAttempts {
    const key = keyOf({ environmentId, network, user: null });
    const attempts = networks.get(key) ?? { failures: [], running: 0, begun: 0 };
    networks.set(key, attempts);
    attempts.failures = attempts.failures.filter(({ at }) => now() - at < windowMilliseconds);
    return attempts;
  }

  function siteAt({ environmentId }: LoginTarget): SiteAttempts {
    const site = sites.get(environmentId) ?? { failures: new Map(), countedSince: now(), running: 0, waiting: [] };
    sites.set(environmentId, site);
    if (now() - site.countedSince >= windowMilliseconds) {
      Object.assign(site, { failures: new Map(), countedSince: now() });
    }
    return site;
  }

  function isAttacked({ failures }: SiteAttempts): boolean {
    return failures.values().reduce((sum, count) => sum + count, 0) >= maxSiteFailures;
  }

  /** The recent failures that count for the target. */
  function failuresOf(target: LoginTarget): readonly Failure[] {
    const { failures } = networkAt(target);
    if (target.user === null || !isKnown(target)) return failures;
    return failures.filter(({ user, claimed }) => user === target.user || claimed === target.user);
  }

  function refusalOf(target: LoginTarget): LoginRefusal | null {
    const decisive = failuresOf(target).at(-maxFailures);
    if (decisive === undefined || failuresOf(target).length < maxFailures) return null;
    return {
      kind: "refused",
      reason: "failures",
      seconds: Math.ceil((decisive.at + windowMilliseconds - now()) / 1_000),
    };
  }

  /** Programs that fail nowhere may run as many requests at once as they like. */
  function isLimited(attempt: LoginTry): boolean {
    return attempt.by === "form" || (!isKnown(attempt) && failuresOf(attempt).length > 0);
  }

  function canStart(attempt: LoginTry, site: SiteAttempts): boolean {
    if (isLimited(attempt) && failuresOf(attempt).length + networkAt(attempt).running >= maxFailures) return false;
    return !isAttacked(site) || site.running === 0 || isKnown(attempt);
  }

  function start(attempt: LoginTry, site: SiteAttempts): LoginTurn {
    const isStranger = !isKnown(attempt);
    if (!isLimited(attempt) && !(isStranger && isAttacked(site))) return watch(attempt);
    const attempts = networkAt(attempt);
    attempts.running += 1;
    if (isStranger) site.running += 1;
    const leave = () => {
      attempts.running -= 1;
      if (isStranger) site.running -= 1;
      startWaiting(site);
    };
    return turnOf(attempt, () => refusalOf(attempt) === null, leave);
  }

  function watch(target: LoginTarget): LoginTurn {
    let state: "waiting" | "begun" | "over" = "waiting";
    const attempts = networkAt(target);
    const begin = () => {
      // Again, if the first worker has died.
      if (state !== "waiting") return refusalOf(target) === null;
      const failures = failuresOf(target).length;
      if (failures > 0 && failures + attempts.running + attempts.begun >= maxFailures) return false;
      state = "begun";
      attempts.begun += 1;
      return true;
    };
    const leave = () => {
      if (state === "begun") attempts.begun -= 1;
      state = "over";
    };
    return turnOf(target, begin, leave);
  }

  function turnOf(target: LoginTarget, begin: () => boolean, leave: () => void): LoginTurn {
    let isRefused = false;
    return {
      kind: "allowed",
      begin: () => {
        isRefused = !begin();
        return !isRefused;
      },
      note: (outcome, user) => {
        // WordPress reports a refused attempt as failed.
        if (!isRefused) note(target, outcome, user?.toLowerCase() ?? null);
      },
      leave: once(leave),
    };
  }

  function note(target: LoginTarget, outcome: LoginOutcome, reported: string | null): void {
    const attempts = networkAt(target);
    if (outcome === "failed") {
      if (refusalOf(target) !== null) return;
      attempts.failures = [...attempts.failures, { user: reported, claimed: target.user, at: now() }];
      noteAtSite(target);
      return;
    }
    attempts.failures = attempts.failures.filter(({ user }) => user === null || user !== reported);
    // PHP names everyone but the user in the request's header.
    const user = reported ?? target.user;
    if (user === null) return;
    known.set(keyOf({ ...target, user: null }), true);
    known.set(keyOf({ ...target, user }), true);
  }

  function noteAtSite(target: LoginTarget): void {
    const site = siteAt(target);
    const count = site.failures.get(target.network) ?? 0;
    if (count < maxFailures && !isAttacked(site)) site.failures.set(target.network, count + 1);
  }

  /** Null: the attempt has to wait. */
  function tryNow(attempt: LoginTry, site: SiteAttempts): LoginTurn | LoginRefusal | null {
    return refusalOf(attempt) ?? (canStart(attempt, site) ? start(attempt, site) : null);
  }

  /** Oldest first. */
  function startWaiting(site: SiteAttempts): void {
    for (const waiting of [...site.waiting]) {
      const turn = tryNow(waiting.attempt, site);
      if (turn !== null) waiting.settle(turn);
    }
  }

  function wait(attempt: LoginTry, site: SiteAttempts, left: AbortSignal): Promise<LoginTurn | LoginRefusal> {
    return new Promise((resolve) => {
      const leave = () => waiting.settle(full);
      const timer = setTimeout(leave, maxWaitMilliseconds).unref();
      const waiting: Waiting = {
        attempt,
        settle(turn) {
          site.waiting = site.waiting.filter((other) => other !== waiting);
          clearTimeout(timer);
          left.removeEventListener("abort", leave);
          resolve(turn);
        },
      };
      site.waiting.push(waiting);
      left.addEventListener("abort", leave);
    });
  }

  /** At an attacked site a network has one place only: otherwise a few would take all of them, and every second turn. */
  function isFull(site: SiteAttempts, { network }: LoginTarget): boolean {
    const ofNetwork = site.waiting.filter(({ attempt }) => attempt.network === network).length;
    return site.waiting.length >= maxWaiting || ofNetwork >= (isAttacked(site) ? 1 : maxWaitingPerNetwork);
  }

  return {
    async enter(attempt, left) {
      const site = siteAt(attempt);
      const turn = tryNow(attempt, site);
      if (turn !== null) return turn;
      return isFull(site, attempt) || left.aborted ? full : wait(attempt, site, left);
    },
    watch,
    refusalOf,
  };
}
