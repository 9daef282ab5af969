/**
 * Prevents one busy environment from delaying the others. The event loop handles all requests that arrived together
 * before it accepts new ones, so a thousand requests to one site would delay a request to another. In each turn of the
 * event loop only a few requests per environment start; the others wait for the next turn.
 */

export interface FairQueue {
  /** True when the request may start, usually at once. False if too many of the environment's requests are waiting. */
  take(environmentId: string): Promise<boolean> | boolean;
}

/** Requests per environment and turn. Serving a file takes a fraction of a millisecond. */
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
