/** How many PHP workers there may be, by default. */
import { machineMemory } from "@sitewright/runtimes/processMemory.ts";
import type { RuntimeName } from "@sitewright/runtimes/runtimeNames.ts";
import type { Region } from "./regions.ts";
import { megabyte } from "./settings.ts";

interface WorkerFacts {
  /** Private memory of a worker that has rendered some pages. */
  readonly bytes: number;
  /** More are never useful on one machine. */
  readonly most: number;
}

const workers: Readonly<Record<RuntimeName, WorkerFacts>> = {
  playground: { bytes: 400 * megabyte, most: 32 },
  native: { bytes: 100 * megabyte, most: 128 },
};

/** The workers that there are most of: whatever their number is, all together use no more than the memory for workers. */
function workersIn(regions: readonly Region[]): WorkerFacts {
  return workers[regions.some(({ runtime }) => runtime === "native") ? "native" : "playground"];
}

export function workerBytes(regions: readonly Region[]): number {
  return workersIn(regions).bytes;
}

/** Leaves half of the memory to the rest of the machine. */
export function defaultMaxWorkers(regions: readonly Region[]): number {
  const { bytes, most } = workersIn(regions);
  return Math.min(most, Math.max(2, Math.floor(machineMemory() / 2 / bytes)));
}
