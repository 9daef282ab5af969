/**
 * Limits how often a network gets the same response over UDP, because anyone can send queries with a forged source
 * address to flood a victim. Real resolvers cache a response and don't ask for it a hundred times a second.
 *
 * Counts are dropped after each second, so there are never more of them than packets in a second. Over the limit, every
 * second response is replaced by a truncated one that asks for a retry over TCP, so that real clients in the network
 * still get an answer. The others are dropped.
 */

export type Verdict = "answer" | "truncate" | "drop";

export interface RateLimit {
  /** `what` identifies the response by type and source. */
  check(network: string, what: string): Verdict;
  /** Responses dropped or truncated so far. */
  readonly limited: number;
}

/** `answersPerSecond` 0: no limit. `now` returns monotonic milliseconds. */
export function createRateLimit(answersPerSecond: number, now: () => number = () => performance.now()): RateLimit {
  const counts = new Map<string, number>();
  let second = 0;
  let limited = 0;
  return {
    get limited() {
      return limited;
    },
    check(network, what) {
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
