/** A worker in the pool with its environment, which it keeps until it is killed. */
import { runtimeOf } from "../runtimeNames.ts";
import type { ServedEnvironment } from "../serving.ts";
import { limitsOf } from "./limits.ts";
import type { Worker } from "./worker.ts";

export interface Member {
  readonly worker: Worker;
  environment: ServedEnvironment;
  isBusy: boolean;
  /** Whether its request comes from PHP, which occupies another worker meanwhile. */
  isForPhp: boolean;
  /** Whether it has worked for visitors or their requests' PHP. If not, it is ended soon. */
  hasVisitors: boolean;
  /** Whether it does background work and is not available to visitors. */
  isInBackground: boolean;
  /**
   * Until when (`performance.now()`) it is kept as a candidate: its environment was tried out and may be served next.
   * Infinity during the trial, 0 for workers that are no candidates. Visitors are not sent to candidates.
   */
  candidateUntil: number;
}

/** Whether a worker for one can serve the other: same runtime, release, PHP version and network access. */
export function isCompatible(a: ServedEnvironment, b: ServedEnvironment | undefined): boolean {
  return (
    b !== undefined &&
    a.id === b.id &&
    runtimeOf(a) === runtimeOf(b) &&
    a.release === b.release &&
    a.phpVersion === b.phpVersion &&
    a.documentRoot === b.documentRoot &&
    (a.isOffline ?? false) === (b.isOffline ?? false)
  );
}

/** Compares the limits that are fixed when a worker starts; the others apply per request. */
export function hasSameLimits(a: ServedEnvironment, b: ServedEnvironment): boolean {
  const [one, other] = [limitsOf(a), limitsOf(b)];
  return one.threads === other.threads && one.memoryMb === other.memoryMb;
}

/** Whether a worker for one may serve the other: compatible, with the same limits and no restart in between. */
export function isInterchangeable(a: ServedEnvironment, b: ServedEnvironment | undefined): boolean {
  return b !== undefined && isCompatible(a, b) && (a.phpRestarts ?? 0) === (b.phpRestarts ?? 0) && hasSameLimits(a, b);
}

export function isCandidate({ candidateUntil }: Pick<Member, "candidateUntil">): boolean {
  return performance.now() < candidateUntil;
}
