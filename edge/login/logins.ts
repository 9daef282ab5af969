/**
 * Valid login links. Only a hash of each token is stored, in memory. A restart of the edge invalidates all links; users
 * request new ones.
 */
import { createHash } from "node:crypto";

/** The user that a link logs in. */
export interface Login {
  readonly environmentId: string;
  readonly userId: number;
  readonly login: string;
}

export interface Logins {
  /** `hash` is the hexadecimal SHA-256 of the token. */
  offer(hash: string, login: Login, seconds: number): void;
  /** Null if the token is unknown, used, expired or for another environment. */
  find(token: string, environmentId: string): Login | null;
  /** As `find`, and removes the link, because it works only once. */
  take(token: string, environmentId: string): Login | null;
}

/** Limit per environment, so that one can't displace the links of others. The oldest link is dropped. */
const mostForEnvironment = 50;
const mostOfAll = 10_000;

interface Offer extends Login {
  readonly until: number;
}

/** `now` returns monotonic milliseconds. */
export function createLogins(now: () => number = () => performance.now()): Logins {
  /** By hash, oldest first. */
  const offers = new Map<string, Offer>();

  function makeRoom(environmentId: string): void {
    for (const [hash, { until }] of offers) if (until <= now()) offers.delete(hash);
    const own = [...offers].filter(([, offer]) => offer.environmentId === environmentId);
    const [oldest] = own.length >= mostForEnvironment ? own : offers.size >= mostOfAll ? offers : [];
    if (oldest !== undefined) offers.delete(oldest[0]);
  }

  function look(token: string, environmentId: string): readonly [hash: string, offer: Offer] | null {
    const hash = createHash("sha256").update(token).digest("hex");
    const offer = offers.get(hash);
    return offer !== undefined && offer.environmentId === environmentId && offer.until > now() ? [hash, offer] : null;
  }

  return {
    offer(hash, login, seconds) {
      makeRoom(login.environmentId);
      offers.set(hash, { ...login, until: now() + seconds * 1000 });
    },
    find: (token, environmentId) => look(token, environmentId)?.[1] ?? null,
    take(token, environmentId) {
      const found = look(token, environmentId);
      if (found === null) return null;
      offers.delete(found[0]);
      return found[1];
    },
  };
}
