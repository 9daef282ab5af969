/** Rate limits. Requests are counted by API key, or by IP address if there is no valid key. */
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

export type CountRequest = (row: Endpoint | undefined, client: string) => Promise<Usage>;

/** Creations and requests that follow operations have separate limits, so that they do not use up the general one. */
export function makeRateLimits({ rateLimitPerMinute, creationLimitPerMinute }: Limits): CountRequest {
  const make = (points: number) => ({ points, limiter: new RateLimiterMemory({ points, duration: windowSeconds }) });
  const buckets = {
    requests: make(rateLimitPerMinute),
    operations: make(rateLimitPerMinute),
    creations: make(creationLimitPerMinute),
  };
  return async (row, client) => {
    const { points, limiter } = buckets[row?.bucket ?? "requests"];
    const state = await consume(limiter, client);
    const seconds = Math.ceil((state.msBeforeNext ?? 0) / 1000);
    const isExceeded = state.consumedPoints > points;
    return { isExceeded, headers: headersOf(points, state.remainingPoints, seconds, isExceeded) };
  };
}

/** The limiter rejects with its result if the limit is exceeded. */
async function consume(limiter: RateLimiterMemory, client: string): Promise<RateLimiterRes> {
  try {
    return await limiter.consume(client);
  } catch (exceeded) {
    if (exceeded instanceof RateLimiterRes) return exceeded;
    throw exceeded;
  }
}

function headersOf(points: number, remaining: number, seconds: number, isExceeded: boolean): Record<string, string> {
  return {
    "x-ratelimit-limit": String(points),
    "x-ratelimit-remaining": String(Math.max(0, remaining)),
    "x-ratelimit-reset": String(Math.floor(Date.now() / 1000) + seconds),
    ...(isExceeded && { "retry-after": String(Math.min(maxRetrySeconds, Math.max(1, seconds))) }),
  };
}
