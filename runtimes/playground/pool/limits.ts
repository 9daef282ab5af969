/** When a worker is started, kept, or ended: the numbers, and the rules that need nothing else. */
import type { ServedEnvironment, ServedLimits } from "../../serving.ts";
import type { WorkerProcess } from "../worker/process.ts";

const megabyte = 1_048_576;
export const usualMemoryMb = 256;
const usualLimits: ServedLimits = { threads: 2, memoryMb: usualMemoryMb, requestSeconds: null, disk: null };

export function limitsOf({ limits }: Pick<ServedEnvironment, "limits">): ServedLimits {
  return limits ?? usualLimits;
}

/** Workers of one environment, besides those for visitors, for what PHP asks of its own site: one that calls itself without end is ended by that. */
export const workersForItself = 2;
/** Workers above the maximum that only requests made by PHP may start: their caller holds one and waits. */
export const reserveForPhp = 2;
/** Workers above the maximum for background work; they end when it is done. */
export const reserveForBackground = 1;
/** A worker that has had no visitors is kept for so long after it was used: more may be due on the same site. */
export const backgroundIdleSeconds = 3;
/** A busy worker is mostly free again sooner than another one would have booted. */
const patienceMilliseconds = 250;
/** Its first page takes longer, and a second worker beside it would only make both slower. */
const firstPagePatienceMilliseconds = 2000;
/** How often those who wait are looked at again, besides whenever a worker becomes free. */
export const lookAgainMilliseconds = 125;
export const queueLength = 100;

const maximumRequests = 1000;
/** Of a worker without the memory that PHP's data may take. */
const restingBytes = 330e6;

/** PHP under WebAssembly never gives memory back, and a trap never heals. */
export function isWornOut(worker: WorkerProcess, memoryMb = usualMemoryMb): boolean {
  return worker.isBroken || worker.requests >= maximumRequests || worker.rssBytes > restingBytes + memoryMb * megabyte;
}

/**
 * Where a worker is ended in the middle of its answer. A script may lift PHP's own limit, but not this one: what it may
 * have, an upload that lies in memory more than once, and an answer that is read slowly.
 */
export function mostBytes(memoryMb: number): number {
  return 700e6 + 3 * memoryMb * megabyte;
}

type NewnessFacts = Pick<WorkerProcess, "requests" | "firstBegan">;

/** Whether it is at its first page, or will be; a first page that never ends does not count for ever. */
export function isNew(worker: NewnessFacts): boolean {
  const { requests, firstBegan } = worker;
  return requests <= 1 && (firstBegan === null || performance.now() - firstBegan < firstPagePatienceMilliseconds);
}

/** Whether a request that has waited for so long should go on waiting for these workers, all of them busy. */
export function isWorthWaiting(workers: readonly NewnessFacts[], waitedMilliseconds: number): boolean {
  return workers.length > 0 && (waitedMilliseconds < patienceMilliseconds || workers.some(isNew));
}
