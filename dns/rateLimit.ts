/**
 * How often one network gets one answer by UDP, where anybody can ask in somebody else's name. A resolver remembers an
 * answer, so it doesn't ask for it a hundred times in a second; whoever is being flooded in its name does.
 *
 * Counts are kept for the second they are of and then forgotten, so there are never more than packets in a second. Each
 * second answer above the limit is a short one that asks to come by TCP, so that somebody real in a network that is counted
 * is still answered; the others are left out.
 */

export type Verdict = "answer" | "truncate" | "drop";

export interface RateLimit {
  /** `what` names the answer: its kind and where it comes from. */
  judge(network: string, what: string): Verdict;
  /** Answers that were left out or shortened since the beginning. */
  readonly limited: number;
}

/** 0: as many as anybody likes. `now` in milliseconds, of a clock that only goes forward. */
export function createRateLimit(answersPerSecond: number, now: () => number = () => performance.now()): RateLimit {
  const counts = new Map<string, number>();
  let second = 0;
  let limited = 0;
  return {
    get limited() {
      return limited;
    },
    judge(network, what) {
      if (answersPerSecond === 0) return "answer";
      const current = Math.floor(now() / 1000);
      if (current !== second) {
        counts.clear();
        second = current;
      }
      const key = `${network} ${what}`;
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (count <= answersPerSecond) return "answer";
      limited += 1;
      return (count - answersPerSecond) % 2 === 0 ? "truncate" : "drop";
    },
  };
}
