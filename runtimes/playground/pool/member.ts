/** A worker in the pool, with the environment that it has until it is killed. */
import type { ServedEnvironment } from "../../serving.ts";
import type { WorkerProcess } from "../worker/process.ts";
import { limitsOf } from "./limits.ts";

export interface Member {
  readonly worker: WorkerProcess;
  environment: ServedEnvironment;
  isBusy: boolean;
  /** Whether what it does was asked for by PHP, which holds another worker meanwhile. */
  isForPhp: boolean;
  /** Whether it has worked for visitors, or for a worker of theirs; without, it is soon ended. */
  hasVisitors: boolean;
  /** Whether it does background work, and is not available to visitors. */
  isInBackground: boolean;
  /**
   * Until when (`performance.now()`) it is kept although visitors are not sent to it, because its environment was
   * tried out and may be served next. Infinity while it is tried out, 0 where that has nothing to do with it.
   */
  keptUntil: number;
}

/** Whether a worker that was made for the one can answer for the other. */
export function isAlike(a: ServedEnvironment, b: ServedEnvironment | undefined): boolean {
  return (
    b !== undefined &&
    a.id === b.id &&
    a.release === b.release &&
    a.phpVersion === b.phpVersion &&
    a.documentRoot === b.documentRoot &&
    (a.isOffline ?? false) === (b.isOffline ?? false)
  );
}

/** Workers are started with these limits; the others apply to each request. */
export function hasSameLimits(a: ServedEnvironment, b: ServedEnvironment): boolean {
  const [one, other] = [limitsOf(a), limitsOf(b)];
  return one.threads === other.threads && one.memoryMb === other.memoryMb;
}

/** Whether a worker that was made for the one may answer for the other. */
export function isSame(a: ServedEnvironment, b: ServedEnvironment | undefined): boolean {
  return b !== undefined && isAlike(a, b) && (a.phpRun ?? 0) === (b.phpRun ?? 0) && hasSameLimits(a, b);
}

export function isCandidate({ keptUntil }: Pick<Member, "keptUntil">): boolean {
  return performance.now() < keptUntil;
}
