/**
 * Login links that may still be followed. Only a hash of each link's token is here, in memory: whoever restarts the edge
 * makes every link invalid, and asks for new ones.
 */
import { createHash } from "node:crypto";

/** Who is logged in by a link, and where. */
export interface Login {
  readonly environmentId: string;
  readonly userId: number;
  readonly login: string;
}

export interface Logins {
  /** `hash` is the hexadecimal SHA-256 of the token. */
  offer(hash: string, login: Login, seconds: number): void;
  /** Null if the token is none, was used, is too old, or is for another environment. */
  find(token: string, environmentId: string): Login | null;
  /** The same, and removes it, so that it works once. */
  take(token: string, environmentId: string): Login | null;
}

/** Per environment, so that one can't push out the links of others. The oldest is dropped. */
const mostForEnvironment = 50;
const mostOfAll = 10_000;

interface Offer extends Login {
  readonly until: number;
}

/** `now` in milliseconds that only rise. */
export function createLogins(now: () => number = () => performance.now()): Logins {
  /** By hash, in the order in which they were made. */
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
