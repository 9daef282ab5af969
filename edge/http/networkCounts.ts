/** Limits what each network has open at once, such as connections. */
import { networkOf } from "./network.ts";

export interface NetworkCounts {
  /** Counts one more for the address's network until `owner` closes. False if the network has reached the limit. */
  add(address: string, owner: Closable): boolean;
}

interface Closable {
  once(event: "close", listener: () => void): unknown;
}

/** `onRefusal` is called when a network reaches the limit, and again only after it had nothing open. */
export function createNetworkCounts(max: number, onRefusal: (network: string) => void): NetworkCounts {
  const counts = new Map<string, number>();
  const refused = new Set<string>();

  function remove(network: string): void {
    const left = (counts.get(network) ?? 0) - 1;
    if (left > 0) counts.set(network, left);
    else {
      counts.delete(network);
      refused.delete(network);
    }
  }

  function refuse(network: string): false {
    if (!refused.has(network)) onRefusal(network);
    refused.add(network);
    return false;
  }

  return {
    add(address, owner) {
      const network = networkOf(address);
      const count = counts.get(network) ?? 0;
      if (count >= max) return refuse(network);
      counts.set(network, count + 1);
      owner.once("close", () => remove(network));
      return true;
    },
  };
}
