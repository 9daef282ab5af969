/**
 * Handshakes that are under way. They cost whoever begins them nothing and us a connection each, so their number is
 * bounded: of one network, so that it can't take the room of all, and in all, where the longest under way gives way.
 */
import { isIPv6 } from "node:net";

export interface Handshakes {
  /**
   * `abandon` ends the handshake where another one needs its room. Returns what is to be called when it is over, however
   * that came; null if the network has too many under way.
   */
  begin(address: string, abandon: () => void): (() => void) | null;
}

export interface HandshakeBounds {
  readonly ofOneNetwork: number;
  readonly inAll: number;
}

/** Many people may share an address; a handshake takes a fraction of a second. */
export const usualBounds: HandshakeBounds = { ofOneNetwork: 100, inAll: 2_000 };

export function createHandshakes(bounds: HandshakeBounds): Handshakes {
  const underWay = new Set<() => void>();
  const byNetwork = new Map<string, number>();

  function count(network: string, change: number): void {
    const now = (byNetwork.get(network) ?? 0) + change;
    if (now === 0) byNetwork.delete(network);
    else byNetwork.set(network, now);
  }

  return {
    begin(address, abandon) {
      const network = networkOf(address);
      if ((byNetwork.get(network) ?? 0) >= bounds.ofOneNetwork) return null;
      const [longest] = underWay.size >= bounds.inAll ? underWay : [];
      longest?.();
      const end = () => {
        if (underWay.delete(giveWay)) count(network, -1);
      };
      const giveWay = () => {
        end();
        abandon();
      };
      underWay.add(giveWay);
      count(network, 1);
      return end;
    },
  };
}

const groupsOfOneNetwork = 4;

/** The half of an address of version 6 that one customer of a provider has all the others of. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = ""] = address.split("::");
  return head.split(":").slice(0, groupsOfOneNetwork).join(":");
}
