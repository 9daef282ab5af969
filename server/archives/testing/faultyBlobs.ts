/** Wraps blobs and fails as planned by a test. */
import type { Blobs } from "../blobs.ts";

export type BlobCall = "put" | "read" | "list" | "remove";

/** Returns the error of the `nth` call of its kind since the plan was set, or null if it succeeds. */
export type FaultPlan = (call: BlobCall, nth: number) => Error | null;

export interface FaultyBlobs extends Blobs {
  /** Sets a new plan and restarts counting. */
  plan(faults: FaultPlan): void;
  /** Number of calls since the plan was set. */
  count(call: BlobCall): number;
}

export const noFaults: FaultPlan = () => null;

/** Fails exactly one call. */
export function failingOnce(call: BlobCall, nth: number, error: () => Error): FaultPlan {
  return (made, count) => (made === call && count === nth ? error() : null);
}

export function makeFaultyBlobs(blobs: Blobs): FaultyBlobs {
  let faults = noFaults;
  const counts = new Map<BlobCall, number>();

  async function through<T>(call: BlobCall, work: () => Promise<T>): Promise<T> {
    const nth = (counts.get(call) ?? 0) + 1;
    counts.set(call, nth);
    const error = faults(call, nth);
    if (error !== null) throw error;
    return work();
  }

  return {
    put: (...parameters) => through("put", () => blobs.put(...parameters)),
    read: (...parameters) => through("read", () => blobs.read(...parameters)),
    list: (...parameters) => through("list", () => blobs.list(...parameters)),
    remove: (...parameters) => through("remove", () => blobs.remove(...parameters)),
    plan: (next) => {
      faults = next;
      counts.clear();
    },
    count: (call) => counts.get(call) ?? 0,
  };
}
