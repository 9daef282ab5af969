/** Numbers and rules for starting, keeping and ending workers. */

import { allocatedBytes, defaultMemoryMb } from "../memoryLimits.ts";
import type { ServedEnvironment, ServedLimits } from "../serving.ts";
import type { Worker } from "./worker.ts";

const defaultLimits: ServedLimits = { threads: 2, memoryMb: defaultMemoryMb, requestSeconds: null, disk: null };

export function limitsOf({ limits }: Pick<ServedEnvironment, "limits">): ServedLimits {
  return limits ?? defaultLimits;
}

/**
 * Extra workers of an environment for requests that its PHP sends to its own site. They limit a site that calls itself
 * endlessly.
 */
export const workersForSelfRequests = 2;
/** Workers above the maximum for requests from PHP only: the caller occupies a worker while it waits. */
export const reserveForPhp = 2;
/** Workers above the maximum for background work. They end when it is done. */
export const reserveForBackground = 1;
/** Seconds that a worker without visitors is kept after background work: more may be due on the same site. */
export const backgroundIdleSeconds = 3;
/** A busy worker is usually free sooner than a new one boots. */
const waitMilliseconds = 250;
/** The first page takes longer, and starting a second worker meanwhile would only slow down both. */
const firstPageMilliseconds = 2000;
/** How often waiting requests are checked, in addition to whenever a worker becomes free. */
export const recheckMilliseconds = 125;
export const queueLength = 100;

const maxRequests = 1000;

/** Whether a worker must be replaced: PHP under WebAssembly never returns memory, and does not recover from a trap. */
export function isWornOut(worker: Worker, environment: ServedEnvironment): boolean {
  const allocated = allocatedBytes(environment, limitsOf(environment).memoryMb);
  return worker.isBroken || worker.requests >= maxRequests || worker.rssBytes > allocated;
}

type FirstRequestFacts = Pick<Worker, "requests" | "firstBegan">;

/** Whether the worker is at, or before, its first page. A first page that never ends counts only for a while. */
export function isAtFirstRequest(worker: FirstRequestFacts): boolean {
  const { requests, firstBegan } = worker;
  return requests <= 1 && (firstBegan === null || performance.now() - firstBegan < firstPageMilliseconds);
}

/** Whether a request that has waited this long should keep waiting for these workers, which are all busy. */
export function shouldWait(workers: readonly FirstRequestFacts[], waitedMilliseconds: number): boolean {
  return workers.length > 0 && (waitedMilliseconds < waitMilliseconds || workers.some(isAtFirstRequest));
}
