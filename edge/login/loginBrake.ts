/**
 * Slows down programs that guess passwords.
 *
 * After a few failed logins, a network gets no further attempts at that site for a while. Attempts that are still running
 * count as failed, so that many at once gain nothing. If a site has many failures from many networks, locking it would lock
 * out its owner as well: attempts then take turns instead, and networks that have logged in before need not wait.
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
}

/** `leave` must be called when the attempt is over. */
export type LoginTurn = { readonly kind: "allowed"; readonly leave: () => void } | LoginRefusal;

export interface LoginRefusal {
  readonly kind: "refused";
  /** `failures`: of this network. `full`: too many others are waiting. */
  readonly reason: "failures" | "full";
  /** When to try again. */
  readonly seconds: number;
}

export interface LoginBrake {
  /** Waits until the attempt may start. `left` aborts when the visitor leaves, which refuses it. */
  enter(target: LoginTarget, left: AbortSignal): Promise<LoginTurn>;
  /** Null if logins of the network are accepted now. */
  refusalOf(target: LoginTarget): LoginRefusal | null;
  /** Records the outcome of an attempt, also of one that did not `enter`. */
  note(target: LoginTarget, outcome: LoginOutcome): void;
}

/** Failed logins after which a network is refused, and for how long. */
const maxFailures = 5;
const refusalSeconds = 600;
/** Failed logins of all networks within that time after which a site's attempts take turns. */
const maxSiteFailures = 50;
const maxWaiting = 50;
const maxWaitingPerNetwork = 3;
/** For visitors for whom there is no place to wait. */
const full: LoginRefusal = { kind: "refused", reason: "full", seconds: 10 };

const maxNetworks = 50_000;
const maxSites = 10_000;

const windowMilliseconds = refusalSeconds * 1_000;

interface NetworkAttempts {
  failures: number;
  failedAt: number;
  running: number;
}

const noAttempts: Readonly<NetworkAttempts> = { failures: 0, failedAt: 0, running: 0 };

interface Waiting {
  readonly target: LoginTarget;
  readonly settle: (turn: LoginTurn) => void;
}

interface SiteAttempts {
  failures: number;
  countedSince: number;
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

/** `now` returns monotonic milliseconds. */
export function createLoginBrake(now: () => number = () => performance.now()): LoginBrake {
  const networks = new LRUCache<string, NetworkAttempts>({ max: maxNetworks });
  const sites = new LRUCache<string, SiteAttempts>({ max: maxSites });
  /** Networks that have logged in. */
  const known = new LRUCache<string, true>({ max: maxNetworks });

  const keyOf = ({ environmentId, network }: LoginTarget) => `${environmentId} ${network}`;

  function networkAt(target: LoginTarget): NetworkAttempts {
    const key = keyOf(target);
    const attempts = networks.get(key) ?? { ...noAttempts };
    networks.set(key, attempts);
    if (now() - attempts.failedAt >= windowMilliseconds) attempts.failures = 0;
    return attempts;
  }

  function siteAt({ environmentId }: LoginTarget): SiteAttempts {
    const site = sites.get(environmentId) ?? { failures: 0, countedSince: now(), running: 0, waiting: [] };
    sites.set(environmentId, site);
    if (now() - site.countedSince >= windowMilliseconds) Object.assign(site, { failures: 0, countedSince: now() });
    return site;
  }

  function refusalOf(target: LoginTarget): LoginRefusal | null {
    const { failures, failedAt } = networks.get(keyOf(target)) ?? noAttempts;
    const seconds = Math.ceil((failedAt + windowMilliseconds - now()) / 1_000);
    return failures < maxFailures || seconds <= 0 ? null : { kind: "refused", reason: "failures", seconds };
  }

  function canStart(target: LoginTarget, site: SiteAttempts): boolean {
    const { failures, running } = networkAt(target);
    if (failures + running >= maxFailures) return false;
    return site.failures < maxSiteFailures || site.running === 0 || known.has(keyOf(target));
  }

  function start(target: LoginTarget, site: SiteAttempts): LoginTurn {
    const attempts = networkAt(target);
    attempts.running += 1;
    site.running += 1;
    const leave = once(() => {
      attempts.running -= 1;
      site.running -= 1;
      startWaiting(site);
    });
    return { kind: "allowed", leave };
  }

  /** Null: the attempt has to wait. */
  function tryNow(target: LoginTarget, site: SiteAttempts): LoginTurn | null {
    const refusal = refusalOf(target);
    if (refusal !== null) return refusal;
    return canStart(target, site) ? start(target, site) : null;
  }

  function startWaiting(site: SiteAttempts): void {
    for (const waiting of [...site.waiting]) {
      const turn = tryNow(waiting.target, site);
      if (turn !== null) waiting.settle(turn);
    }
  }

  function wait(target: LoginTarget, site: SiteAttempts, left: AbortSignal): Promise<LoginTurn> {
    return new Promise((resolve) => {
      const leave = () => waiting.settle(full);
      const waiting: Waiting = {
        target,
        settle(turn) {
          site.waiting = site.waiting.filter((other) => other !== waiting);
          left.removeEventListener("abort", leave);
          resolve(turn);
        },
      };
      site.waiting.push(waiting);
      left.addEventListener("abort", leave);
    });
  }

  return {
    async enter(target, left) {
      const site = siteAt(target);
      const turn = tryNow(target, site);
      if (turn !== null) return turn;
      const sameNetwork = site.waiting.filter(({ target: { network } }) => network === target.network);
      const isFull = site.waiting.length >= maxWaiting || sameNetwork.length >= maxWaitingPerNetwork;
      if (isFull || left.aborted) return full;
      return wait(target, site, left);
    },
    refusalOf,
    note(target, outcome) {
      const attempts = networkAt(target);
      if (outcome === "succeeded") {
        attempts.failures = 0;
        known.set(keyOf(target), true);
        return;
      }
      siteAt(target).failures += 1;
      if (attempts.failures >= maxFailures) return;
      attempts.failures += 1;
      attempts.failedAt = now();
    },
  };
}
