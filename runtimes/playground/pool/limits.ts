/** When a worker is started, kept, or ended: the numbers, and the rules that need nothing else. */
import type { WorkerProcess } from "../worker/process.ts";

/** Workers of one environment at once for visitors; what PHP asks of its own site may add some. */
export const visitorWorkers = 2;
/** Also ends a site that calls itself without end. */
export const workersPerEnvironment = 4;
/** Workers above the maximum that only requests made by PHP may start: their caller holds one and waits. */
export const reserveForPhp = 2;
/** A busy worker is mostly free again sooner than another one would have booted. */
const patienceMilliseconds = 250;
/** Its first page takes longer, and a second worker beside it would only make both slower. */
const firstPagePatienceMilliseconds = 2000;
/** How often those who wait are looked at again, besides whenever a worker becomes free. */
export const lookAgainMilliseconds = 125;
export const queueLength = 100;

const maximumRequests = 1000;
const maximumRssBytes = 600e6;

/** PHP under WebAssembly never gives memory back, and a trap never heals. */
export function isWornOut(worker: WorkerProcess): boolean {
  return worker.isBroken || worker.requests >= maximumRequests || worker.rssBytes > maximumRssBytes;
}

/** Whether it is at its first page, or will be; a first page that never ends does not count for ever. */
export function isNew(worker: WorkerProcess): boolean {
  const { requests, firstBegan } = worker;
  return requests <= 1 && (firstBegan === null || performance.now() - firstBegan < firstPagePatienceMilliseconds);
}

/** Whether a request that has waited for so long should go on waiting for these workers, all of them busy. */
export function isWorthWaiting(workers: readonly WorkerProcess[], waitedMilliseconds: number): boolean {
  return workers.length > 0 && (waitedMilliseconds < patienceMilliseconds || workers.some(isNew));
}
