/**
 * Decides whether companies' processes run in the background (`processorGroups.ts`). That is best for everyone as long as the
 * server leaves them time. A flood of requests can keep the server's processes busy, though, and no page would be rendered
 * meanwhile: then the companies' processes get as much time as one of the server's.
 */
import { cpus } from "node:os";

/** In CPU cores. */
interface Usage {
  /** What visitors' workers would use in addition if they did not have to wait. */
  readonly waiting: number;
  /** What all processes with a lowered priority use: nearly all of them are companies'. */
  readonly lowPriority: number;
}

/** Companies that get less than this part of the cores, and wait for more, are starved. */
const leastPart = 1 / 4;
const waitingCores = 0.5;
/** How long they stay in the foreground, so that they do not starve again every few seconds. Milliseconds. */
const foregroundMilliseconds = 10_000;

/** Returns a function that gets the present usage and the time in milliseconds. `cores`: of the machine. */
export function makeBackgroundRule(cores: number): (usage: Usage, now: number) => boolean {
  let starvedAt = Number.NEGATIVE_INFINITY;
  return ({ waiting, lowPriority }, now) => {
    if (waiting >= waitingCores && lowPriority < cores * leastPart) starvedAt = now;
    return now - starvedAt >= foregroundMilliseconds;
  };
}

/** Returns the CPU time of processes with a lowered priority since the machine's start, in milliseconds. */
export function lowPriorityTime(): number {
  return cpus().reduce((sum, { times }) => sum + times.nice, 0);
}
