/**
 * Counts logins for the activity log until control takes them. Control writes them every minute, so equal ones are one entry
 * with their number.
 */
import type { LoginOutcome } from "./loginBrake.ts";

export interface LoginEvent {
  readonly environmentId: string;
  /** The visitor's, or null for those beyond the limit. */
  readonly address: string | null;
  readonly outcome: LoginOutcome;
  /** Whether the visitor came by a login link. */
  readonly byLink: boolean;
  /** The user's login name, or null if the site has no such user. */
  readonly user: string | null;
}

export interface CountedLogin extends LoginEvent {
  readonly count: number;
}

export interface LoginEvents {
  note(event: LoginEvent): void;
  /** Returns the events since the last call. */
  take(): CountedLogin[];
}

/** Different events of an environment until they are taken. Further ones are counted without their details. */
const maxPerEnvironment = 200;
/** Environments with events until they are taken: more than one edge serves. */
const maxEnvironments = 10_000;
const maxUserLength = 60;

export function createLoginEvents(): LoginEvents {
  let environments = new Map<string, Map<string, CountedLogin>>();

  return {
    note: (event) => {
      const events = environments.get(event.environmentId) ?? new Map<string, CountedLogin>();
      if (events.size === 0 && environments.size >= maxEnvironments) return;
      environments.set(event.environmentId, events);
      const isKnown = events.has(JSON.stringify(event));
      const kept = isKnown || events.size < maxPerEnvironment ? event : { ...event, address: null, user: null };
      const key = JSON.stringify(kept);
      events.set(key, { ...kept, count: (events.get(key)?.count ?? 0) + 1 });
    },
    take: () => {
      const taken = environments;
      environments = new Map();
      return [...taken.values()].flatMap((events) => [...events.values()]);
    },
  };
}

/** Decodes a user's name from the header of the platform's PHP. Null if there is none, or a site's code made it up badly. */
export function readUserName(value: string | undefined): string | null {
  if (value === undefined) return null;
  try {
    const name = decodeURIComponent(value);
    return name === "" || /\p{Cc}/u.test(name) || !name.isWellFormed()
      ? null
      : [...name].slice(0, maxUserLength).join("");
  } catch {
    return null;
  }
}
