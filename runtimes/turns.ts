/**
 * Limits how much work runs at the same time, and lets parties take turns, so that none of them waits for another's long
 * queue. When work ends, the party with the least running work is next, and of these the one that was served longest ago.
 *
 * Long work can't be interrupted. A party without running work therefore gets one of some extra places if all others are taken:
 * a party that fills all places delays only its own work.
 */

export interface Turns {
  /**
   * Runs `work` when it is the turn of `party`, in order within the party. Rejects with the signal's reason if it is aborted
   * while the work waits; work that has begun handles the signal itself.
   */
  run<T>(party: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Like `run`, for work that calls the returned function when it ends. */
  take(party: string, signal?: AbortSignal): Promise<() => void>;
}

interface TurnsOptions {
  /** How much work of all parties runs at the same time. */
  readonly total: number;
  /** How much of it may be one party's. Absent: all. */
  readonly perParty?: number;
  /** How much more may run of parties that have nothing else running. Absent: as much again. */
  readonly extra?: number;
}

interface Party {
  running: number;
  /** The number of starts of all parties when it was last served, or came. */
  lastServed: number;
  readonly waiting: (() => void)[];
}

export function createTurns({ total, perParty = total, extra = total }: TurnsOptions): Turns {
  const parties = new Map<string, Party>();
  let running = 0;
  let starts = 0;

  function mayStart(party: Party): boolean {
    if (party.running >= perParty) return false;
    return running < (party.running === 0 ? total + extra : total);
  }

  function startNext(): void {
    for (;;) {
      const [next] = [...parties.values()]
        .filter((party) => party.waiting.length > 0 && mayStart(party))
        .toSorted((one, other) => one.running - other.running || one.lastServed - other.lastServed);
      if (next === undefined) return;
      running += 1;
      next.running += 1;
      starts += 1;
      next.lastServed = starts;
      next.waiting.shift()?.();
    }
  }

  function partyOf(name: string): Party {
    const party = parties.get(name) ?? { running: 0, lastServed: starts, waiting: [] };
    parties.set(name, party);
    return party;
  }

  function end(name: string, party: Party): void {
    running -= 1;
    party.running -= 1;
    forgetIdle(name, party);
    startNext();
  }

  function forgetIdle(name: string, { running: runs, waiting }: Party): void {
    if (runs + waiting.length === 0) parties.delete(name);
  }

  function turn(name: string, party: Party, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = () => {
        party.waiting.splice(party.waiting.indexOf(begin), 1);
        forgetIdle(name, party);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", giveUp, { once: true });
      party.waiting.push(begin);
      startNext();
    });
  }

  async function take(name: string, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    const party = partyOf(name);
    await turn(name, party, signal);
    return () => end(name, party);
  }

  return {
    take,
    run: async (name, work, signal) => {
      const done = await take(name, signal);
      try {
        return await work();
      } finally {
        done();
      }
    },
  };
}
