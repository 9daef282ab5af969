/**
 * Limits the share of the event loop that one client network can use with work that blocks it, such as parsing 100 kB of brackets,
 * which takes ten milliseconds and more. After such work, the network's next work of that kind waits 19 times as long as this one took.
 * It is delayed, not refused.
 */
import { setTimeout as delay } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { networkOf } from "./network.ts";

/** How many times as long as the work took the pause is. */
const pauseFactor = 19;
/** Networks that are remembered. */
const maxNetworks = 10_000;

export interface NetworkPace {
  /** Whether work for the network of the client's address would have to wait. */
  isPaused(address: string): boolean;
  /**
   * Resolves when it is the turn of the address's network. Call the function then with the milliseconds that the work has taken; after 0,
   * the next work need not wait.
   */
  turn(address: string): Promise<(milliseconds: number) => void>;
  /** Does work when it is the turn of the address's network. Rejects with the error of `work`. */
  run<T>(address: string, work: () => T): Promise<T>;
  /** Pauses the network after work that took so many milliseconds and had no turn. */
  charge(address: string, milliseconds: number): void;
}

/** Waits for milliseconds. */
type Pause = (milliseconds: number) => Promise<unknown>;

const pauseFor: Pause = (milliseconds) => delay(milliseconds, undefined, { ref: false });

export function createNetworkPace(pause: Pause = pauseFor): NetworkPace {
  const turns = new LRUCache<string, Promise<void>>({ max: maxNetworks });

  /** Makes the network's next work wait until `end` has been called. */
  function begin(network: string): { readonly earlier: Promise<void> | undefined; readonly end: () => void } {
    const { promise: turn, resolve } = Promise.withResolvers<void>();
    const earlier = turns.get(network);
    turns.set(network, turn);
    const end = () => {
      if (turns.peek(network) === turn) turns.delete(network);
      resolve();
    };
    return { earlier, end };
  }

  async function turn(address: string): Promise<(milliseconds: number) => void> {
    const { earlier, end } = begin(networkOf(address));
    await earlier;
    return (milliseconds) => {
      if (milliseconds === 0) end();
      else pause(milliseconds * pauseFactor).then(end);
    };
  }

  return {
    isPaused: (address) => turns.has(networkOf(address)),
    turn,
    async run(address, work) {
      const end = await turn(address);
      const begun = performance.now();
      try {
        return work();
      } finally {
        end(performance.now() - begun);
      }
    },
    charge(address, milliseconds) {
      const { earlier, end } = begin(networkOf(address));
      Promise.all([earlier, pause(milliseconds * pauseFactor)]).then(end);
    },
  };
}
