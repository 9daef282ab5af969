/**
 * Prevents one busy company from delaying the others. The event loop handles all requests that arrived together before it
 * accepts new ones, so a thousand requests to one site would delay a request to another. In each turn of the event loop only
 * a few requests per company start; the others wait for the next turn.
 */

export interface FairQueue {
  /** True when the request may start, usually at once. False if too many of the company's requests are waiting. */
  take(payer: string): Promise<boolean> | boolean;
}

/** Requests per company and turn. Serving a file takes a fraction of a millisecond. */
const perTurn = 8;
const maxWaiting = 1_000;

interface Queue {
  started: number;
  readonly waiting: (() => void)[];
}

export function createFairQueue(nextTurn: (begin: () => void) => void = setImmediate): FairQueue {
  const queues = new Map<string, Queue>();
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    nextTurn(startTurn);
  }

  function startTurn(): void {
    isScheduled = false;
    for (const [id, queue] of queues) {
      const ready = queue.waiting.splice(0, perTurn);
      queue.started = ready.length;
      if (ready.length === 0) queues.delete(id);
      for (const start of ready) start();
    }
    if (queues.size > 0) schedule();
  }

  return {
    take(payer) {
      const queue = queues.get(payer) ?? { started: 0, waiting: [] };
      queues.set(payer, queue);
      schedule();
      if (queue.started < perTurn && queue.waiting.length === 0) {
        queue.started += 1;
        return true;
      }
      if (queue.waiting.length >= maxWaiting) return false;
      return new Promise((resolve) => queue.waiting.push(() => resolve(true)));
    },
  };
}
