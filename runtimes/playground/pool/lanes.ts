/**
 * At most so many things at once for each environment, where all of them share a few threads: whatever one environment
 * has waiting, there is a thread left for another one.
 */

export interface Lanes {
  /** Begins the work when fewer than so many of the environment are under way, in the order in which they came. */
  run<T>(environmentId: string, work: () => Promise<T>): Promise<T>;
}

interface Lane {
  underWay: number;
  readonly waiting: (() => void)[];
}

export function createLanes(atOnce: number): Lanes {
  const lanes = new Map<string, Lane>();

  /** The place goes to whoever waits next, if anybody does. */
  function leave(id: string, lane: Lane): void {
    const next = lane.waiting.shift();
    if (next === undefined) lane.underWay -= 1;
    else next();
    if (lane.underWay === 0) lanes.delete(id);
  }

  return {
    async run(id, work) {
      const lane = lanes.get(id) ?? { underWay: 0, waiting: [] };
      lanes.set(id, lane);
      if (lane.underWay < atOnce) lane.underWay += 1;
      else await new Promise<void>((begin) => lane.waiting.push(begin));
      try {
        return await work();
      } finally {
        leave(id, lane);
      }
    },
  };
}
