/**
 * Decides whether loud companies' processes run in the background (`processor/groups.ts`). That is best for everyone as long as the
 * server leaves them time. A flood of requests can keep the server's processes busy, though, and no page of these companies would be
 * rendered meanwhile: then their processes get a small part of the time. More would make the server's backlog, and so all visitors'
 * waits, longer.
 */
/** In CPU cores. */
interface Usage {
  /** What visitors' workers would use in addition if they did not have to wait. */
  readonly waiting: number;
  /** What their processes use. */
  readonly used: number;
}

/** Companies that get less than this part of the cores, and wait for more, are starved. */
const leastPart = 1 / 8;
const waitingCores = 0.5;
/** How long they stay in the foreground, so that they do not starve again every few seconds. Milliseconds. */
const foregroundMilliseconds = 10_000;

/** Returns a function that gets the present usage and the time in milliseconds. `cores`: of the machine. */
export function makeBackgroundRule(cores: number): (usage: Usage, now: number) => boolean {
  let starvedAt = Number.NEGATIVE_INFINITY;
  return ({ waiting, used }, now) => {
    if (waiting >= waitingCores && used < cores * leastPart) starvedAt = now;
    return now - starvedAt >= foregroundMilliseconds;
  };
}
