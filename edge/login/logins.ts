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
  add(hash: string, login: Login, seconds: number): void;
  /** Null if the token is unknown, used, expired or for another environment. */
  find(token: string, environmentId: string): Login | null;
  /** As `find`, and removes the link, because it works only once. */
  use(token: string, environmentId: string): Login | null;
}

/** Limit per environment, so that one can't displace the links of others. The oldest link is dropped. */
const maxPerEnvironment = 50;
const maxTotal = 10_000;

interface StoredLogin extends Login {
  readonly expiresAt: number;
}

/** `now` returns monotonic milliseconds. */
export function createLogins(now: () => number = () => performance.now()): Logins {
  /** By hash, oldest first. */
  const stored = new Map<string, StoredLogin>();

  function makeRoom(environmentId: string): void {
    for (const [hash, { expiresAt }] of stored) if (expiresAt <= now()) stored.delete(hash);
    const ofEnvironment = [...stored].filter(([, login]) => login.environmentId === environmentId);
    const [oldest] = ofEnvironment.length >= maxPerEnvironment ? ofEnvironment : stored.size >= maxTotal ? stored : [];
    if (oldest !== undefined) stored.delete(oldest[0]);
  }

  function find(token: string, environmentId: string): readonly [hash: string, login: StoredLogin] | null {
    const hash = createHash("sha256").update(token).digest("hex");
    const login = stored.get(hash);
    return login !== undefined && login.environmentId === environmentId && login.expiresAt > now()
      ? [hash, login]
      : null;
  }

  return {
    add(hash, login, seconds) {
      makeRoom(login.environmentId);
      stored.set(hash, { ...login, expiresAt: now() + seconds * 1000 });
    },
    find: (token, environmentId) => find(token, environmentId)?.[1] ?? null,
    use(token, environmentId) {
      const found = find(token, environmentId);
      if (found === null) return null;
      stored.delete(found[0]);
      return found[1];
    },
  };
}
