/**
 * Limits the share of the event loop that one client network can use by sending large JSON bodies. Parsing 100 kB of brackets blocks
 * all requests for ten milliseconds or more. After each large body, the network's next one waits 19 times as long as parsing took. It
 * is delayed, not refused.
 */
import { setTimeout as delay } from "node:timers/promises";
import { networkOf } from "@sitewright/edge/http/network.ts";
import { LRUCache } from "lru-cache";

/** Bytes. Smaller bodies are parsed at once. */
const largeBody = 4_096;
/** How many times as long as parsing took the pause is. */
const pauseFactor = 19;
/** Networks that are remembered. */
const maxNetworks = 10_000;

export interface ParsePace {
  /** Parses a body of this many bytes, when it is the turn of the client's address. Rejects with the error of `parse`. */
  run<T>(address: string, bytes: number, parse: () => T): Promise<T>;
}

/** Waits for milliseconds. */
type Pause = (milliseconds: number) => Promise<unknown>;

const pauseFor: Pause = (milliseconds) => delay(milliseconds, undefined, { ref: false });

export function createParsePace(pause: Pause = pauseFor): ParsePace {
  const turns = new LRUCache<string, Promise<void>>({ max: maxNetworks });
  return {
    async run(address, bytes, parse) {
      if (bytes < largeBody) return parse();
      const network = networkOf(address);
      const { promise: turn, resolve: endTurn } = Promise.withResolvers<void>();
      const earlier = turns.get(network);
      turns.set(network, turn);
      await earlier;
      const begun = performance.now();
      try {
        return parse();
      } finally {
        pause((performance.now() - begun) * pauseFactor).then(() => endTurn());
      }
    },
  };
}
