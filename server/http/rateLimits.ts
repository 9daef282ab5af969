/**
 * Rate limits. Requests are counted by company and by API key, or by IPv4 address or IPv6 /64 if there is no valid key. A
 * company can't raise its limit with more keys, and no key can use up all of it.
 *
 * Each client has a window of a minute that begins with its first request. Windows are measured with a clock that never jumps.
 *
 * Requests are counted in memory. If there are several control processes, each allows its share, and shows that in its headers.
 */
import type { Endpoint } from "@sitewright/contract/endpoint.ts";
import { LRUCache } from "lru-cache";

export interface Limits {
  readonly rateLimitPerMinute: number;
  readonly creationLimitPerMinute: number;
}

export interface Usage {
  readonly isExceeded: boolean;
  readonly headers: {
    readonly "x-ratelimit-limit": string;
    readonly "x-ratelimit-remaining": string;
    readonly "x-ratelimit-reset": string;
    /** Only if the limit is exceeded. */
    readonly "retry-after"?: string;
  };
}

const windowMilliseconds = 60_000;
const maxRetrySeconds = 30;

/** A company may send as many requests as so many of its keys. */
const keysPerCompany = 2;

/** Those that were counted least recently are forgotten beyond this number. */
const maxClients = 100_000;

/** The key of a request, or its network. */
type Client = string | { readonly keyId: string; readonly companyId: string };

export interface CountRequest {
  /** Counts a request. */
  (row: Endpoint | undefined, client: Client): Usage;
  /** Whether the next request of a network without a valid key will exceed the limit. Counts nothing. */
  isUsedUp(row: Endpoint | undefined, network: string): boolean;
}

interface RateLimitOptions {
  /** In milliseconds, never going back. */
  readonly now?: () => number;
  /** The number of processes among which requests are spread. Absent: one. */
  readonly processes?: (() => number) | undefined;
}

/** Creations and requests that follow operations have separate limits, so that they do not use up the general one. */
export function makeRateLimits(
  { rateLimitPerMinute, creationLimitPerMinute }: Limits,
  { now = () => performance.now(), processes = () => 1 }: RateLimitOptions = {},
): CountRequest {
  const make = (points: number) => ({
    client: makeCounter(() => Math.ceil(points / processes()), now),
    company: makeCounter(() => Math.ceil((points * keysPerCompany) / processes()), now),
  });
  const buckets = {
    requests: make(rateLimitPerMinute),
    operations: make(rateLimitPerMinute),
    creations: make(creationLimitPerMinute),
  };
  const count = (row: Endpoint | undefined, client: Client): Usage => {
    const bucket = buckets[row?.bucket ?? "requests"];
    const own = bucket.client.count(typeof client === "string" ? client : client.keyId);
    // A key that has exceeded its own limit takes nothing from the company's other keys.
    if (typeof client === "string" || own.remaining < 0) return usageOf(own);
    const ofCompany = bucket.company.count(client.companyId);
    return usageOf(ofCompany.remaining < own.remaining ? ofCompany : own);
  };
  const isUsedUp = (row: Endpoint | undefined, network: string): boolean =>
    buckets[row?.bucket ?? "requests"].client.left(network) <= 0;
  return Object.assign(count, { isUsedUp });
}

/** What is left of a limit. */
interface Left {
  readonly points: number;
  /** Negative: the limit is exceeded. */
  readonly remaining: number;
  readonly seconds: number;
}

interface Window {
  count: number;
  readonly endsAt: number;
}

interface Counter {
  /** Counts a request of a client. */
  count(client: string): Left;
  /** How many more requests the client may send. */
  left(client: string): number;
}

function makeCounter(limit: () => number, now: () => number): Counter {
  const windows = new LRUCache<string, Window>({ max: maxClients });
  const present = (client: string, time: number): Window | undefined => {
    const window = windows.get(client);
    return window === undefined || window.endsAt <= time ? undefined : window;
  };
  return {
    count: (client) => {
      const time = now();
      let window = present(client, time);
      if (window === undefined) {
        window = { count: 0, endsAt: time + windowMilliseconds };
        windows.set(client, window);
      }
      window.count += 1;
      const points = limit();
      return { points, remaining: points - window.count, seconds: Math.ceil((window.endsAt - time) / 1000) };
    },
    left: (client) => limit() - (present(client, now())?.count ?? 0),
  };
}

function usageOf({ points, remaining, seconds }: Left): Usage {
  const isExceeded = remaining < 0;
  const headers = {
    "x-ratelimit-limit": String(points),
    "x-ratelimit-remaining": String(Math.max(0, remaining)),
    "x-ratelimit-reset": String(Math.floor(Date.now() / 1000) + seconds),
    ...(isExceeded && { "retry-after": String(Math.min(maxRetrySeconds, Math.max(1, seconds))) }),
  };
  return { isExceeded, headers };
}
