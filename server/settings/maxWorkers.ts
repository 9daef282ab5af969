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

const runtimesOf = (regions: readonly Region[]): readonly RuntimeName[] => regions.map(({ runtime }) => runtime);

/** The private memory of as many workers, if each is of the runtime in the regions that needs the least, and of prepared ones. */
export function leastBytes(regions: readonly Region[], maxWorkers: number, preparedWorkers: number): number {
  const runtimes = runtimesOf(regions);
  const preparedBytes = runtimes.includes("playground") ? preparedWorkers * workers.playground.bytes : 0;
  return maxWorkers * Math.min(...runtimes.map((runtime) => workers[runtime].bytes)) + preparedBytes;
}

/**
 * Leaves half of the memory to the rest of the machine. With several runtimes, as many as of the smallest: whatever they are, all workers
 * together get no more than the memory for workers.
 */
export function defaultMaxWorkers(regions: readonly Region[]): number {
  const numbers = runtimesOf(regions).map((runtime) => {
    const { bytes, most } = workers[runtime];
    return Math.min(most, Math.max(2, Math.floor(machineMemory() / 2 / bytes)));
  });
  return Math.max(...numbers);
}
