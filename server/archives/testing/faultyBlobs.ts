/** A store of blobs in front of a real one, which fails if a test says so. */
import type { Blobs } from "../blobs.ts";

export type BlobCall = "put" | "read" | "list" | "remove";

/** Returns the error with which a call fails, which is the `nth` of its kind since the plan was made; null: it does not. */
export type FaultPlan = (call: BlobCall, nth: number) => Error | null;

export interface FaultyBlobs extends Blobs {
  /** From now on; calls are counted anew. */
  plan(faults: FaultPlan): void;
  /** Since the plan was made. */
  count(call: BlobCall): number;
}

export const noFaults: FaultPlan = () => null;

/** Fails at one call, and at none before or after it. */
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
