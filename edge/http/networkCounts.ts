/** Limits what each network has open at once, such as connections. */
import { networkOf } from "./network.ts";
import { type Closable, createOpenCounts } from "./openCounts.ts";

export interface NetworkCounts {
  /** Counts one more for the address's network until `owner` closes. False if the network has reached the limit. */
  add(address: string, owner: Closable): boolean;
}

/** `onRefusal` is called when a network reaches the limit, and again only after it had nothing open. */
export function createNetworkCounts(max: number, onRefusal: (network: string) => void): NetworkCounts {
  const counts = createOpenCounts(max, onRefusal);
  return { add: (address, owner) => counts.add(networkOf(address), owner) };
}
