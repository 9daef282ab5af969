/**
 * Rate limits. Requests are counted by company and by API key, or by IPv4 address or IPv6 /64 if there is no valid key. A
 * company can't raise its limit with more keys, and no key can use up all of it.
 */
import type { Endpoint } from "@sitewright/contract/endpoint.ts";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";

export interface Limits {
  readonly rateLimitPerMinute: number;
  readonly creationLimitPerMinute: number;
}

export interface Usage {
  readonly isExceeded: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

const windowSeconds = 60;
const maxRetrySeconds = 30;

/** A company may send as many requests as so many of its keys. */
const keysPerCompany = 2;

/** The key of a request, or its network. */
type Client = string | { readonly keyId: string; readonly companyId: string };

export type CountRequest = (row: Endpoint | undefined, client: Client) => Promise<Usage>;

/** Creations and requests that follow operations have separate limits, so that they do not use up the general one. */
export function makeRateLimits({ rateLimitPerMinute, creationLimitPerMinute }: Limits): CountRequest {
  const limit = (points: number) => ({ points, limiter: new RateLimiterMemory({ points, duration: windowSeconds }) });
  const make = (points: number) => ({ client: limit(points), company: limit(points * keysPerCompany) });
  const buckets = {
    requests: make(rateLimitPerMinute),
    operations: make(rateLimitPerMinute),
    creations: make(creationLimitPerMinute),
  };
  return async (row, client) => {
    const bucket = buckets[row?.bucket ?? "requests"];
    const own = await consume(bucket.client, typeof client === "string" ? client : client.keyId);
    // A key that has exceeded its own limit takes nothing from the company's other keys.
    if (typeof client === "string" || own.isExceeded) return usageOf(own);
    const ofCompany = await consume(bucket.company, client.companyId);
    return usageOf(ofCompany.remaining < own.remaining || ofCompany.isExceeded ? ofCompany : own);
  };
}

interface Limit {
  readonly points: number;
  readonly limiter: RateLimiterMemory;
}

/** What is left of a limit. */
interface Left {
  readonly points: number;
  readonly remaining: number;
  readonly seconds: number;
  readonly isExceeded: boolean;
}

async function consume({ points, limiter }: Limit, client: string): Promise<Left> {
  const state = await stateAfter(limiter, client);
  const seconds = Math.ceil((state.msBeforeNext ?? 0) / 1000);
  return { points, remaining: state.remainingPoints, seconds, isExceeded: state.consumedPoints > points };
}

/** The limiter rejects with its result if the limit is exceeded. */
async function stateAfter(limiter: RateLimiterMemory, client: string): Promise<RateLimiterRes> {
  try {
    return await limiter.consume(client);
  } catch (exceeded) {
    if (exceeded instanceof RateLimiterRes) return exceeded;
    throw exceeded;
  }
}

function usageOf({ points, remaining, seconds, isExceeded }: Left): Usage {
  const headers = {
    "x-ratelimit-limit": String(points),
    "x-ratelimit-remaining": String(Math.max(0, remaining)),
    "x-ratelimit-reset": String(Math.floor(Date.now() / 1000) + seconds),
    ...(isExceeded && { "retry-after": String(Math.min(maxRetrySeconds, Math.max(1, seconds))) }),
  };
  return { isExceeded, headers };
}
