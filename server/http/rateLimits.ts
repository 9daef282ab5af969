/** How many requests a key may make. Those without a usable key are counted by address. */
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

const window = 60;
const longestRetry = 30;

export type CountRequest = (row: Endpoint | undefined, who: string) => Promise<Usage>;

/** Creations and follow-ups of operations have budgets of their own, so that neither uses up the rest. */
export function makeRateLimits({ rateLimitPerMinute, creationLimitPerMinute }: Limits): CountRequest {
  const make = (points: number) => ({ points, limiter: new RateLimiterMemory({ points, duration: window }) });
  const buckets = {
    requests: make(rateLimitPerMinute),
    operations: make(rateLimitPerMinute),
    creations: make(creationLimitPerMinute),
  };
  return async (row, who) => {
    const { points, limiter } = buckets[row?.bucket ?? "requests"];
    const state = await consume(limiter, who);
    const seconds = Math.ceil((state.msBeforeNext ?? 0) / 1000);
    const isExceeded = state.consumedPoints > points;
    return { isExceeded, headers: headersOf(points, state.remainingPoints, seconds, isExceeded) };
  };
}

/** The limiter rejects with the same value when the budget is used up. */
async function consume(limiter: RateLimiterMemory, who: string): Promise<RateLimiterRes> {
  try {
    return await limiter.consume(who);
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
    ...(isExceeded && { "retry-after": String(Math.min(longestRetry, Math.max(1, seconds))) }),
  };
}
