/**
 * Whose request is looked at next. Everything that arrives at once is worked on in one go before the next round of
 * arrivals, so that a thousand requests to one site would stand before one to another. Of each environment only some are
 * taken in a round, and the others wait for the next.
 */

export interface FairQueue {
  /** Resolves when it is the request's turn: at once, mostly. False if too many of its environment wait already. */
  take(environmentId: string): Promise<boolean> | boolean;
}

/** Of one environment in a round; a file takes a fraction of a millisecond. */
const eachRound = 8;
const mostWaiting = 1_000;

interface Line {
  taken: number;
  readonly waiting: (() => void)[];
}

export function createFairQueue(nextRound: (begin: () => void) => void = setImmediate): FairQueue {
  const lines = new Map<string, Line>();
  let isPlanned = false;

  function plan(): void {
    if (isPlanned) return;
    isPlanned = true;
    nextRound(begin);
  }

  function begin(): void {
    isPlanned = false;
    for (const [id, line] of lines) {
      const now = line.waiting.splice(0, eachRound);
      line.taken = now.length;
      if (now.length === 0) lines.delete(id);
      for (const go of now) go();
    }
    if (lines.size > 0) plan();
  }

  return {
    take(environmentId) {
      const line = lines.get(environmentId) ?? { taken: 0, waiting: [] };
      lines.set(environmentId, line);
      plan();
      if (line.taken < eachRound && line.waiting.length === 0) {
        line.taken += 1;
        return true;
      }
      if (line.waiting.length >= mostWaiting) return false;
      return new Promise((resolve) => line.waiting.push(() => resolve(true)));
    },
  };
}
