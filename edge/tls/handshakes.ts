/**
 * Limits concurrent TLS handshakes, which cost an attacker nothing and the edge a connection each. A network over its
 * limit is refused. At the overall limit, the oldest handshake is aborted.
 */
import { networkOf } from "../http/network.ts";

interface Handshakes {
  /**
   * Starts a handshake. `abandon` is called if it must make room for another one. Returns the function to call when the
   * handshake is over, successful or not; null if the network has too many running.
   */
  begin(address: string, abandon: () => void): (() => void) | null;
}

export interface HandshakeLimits {
  readonly perNetwork: number;
  readonly total: number;
}

/** Many people may share an IP address, but a handshake takes only a fraction of a second. */
export const defaultLimits: HandshakeLimits = { perNetwork: 100, total: 2_000 };

export function createHandshakes(limits: HandshakeLimits): Handshakes {
  const running = new Set<() => void>();
  const byNetwork = new Map<string, number>();

  function count(network: string, change: number): void {
    const now = (byNetwork.get(network) ?? 0) + change;
    if (now === 0) byNetwork.delete(network);
    else byNetwork.set(network, now);
  }

  return {
    begin(address, abandon) {
      const network = networkOf(address);
      if ((byNetwork.get(network) ?? 0) >= limits.perNetwork) return null;
      const [oldest] = running.size >= limits.total ? running : [];
      oldest?.();
      const end = () => {
        if (running.delete(makeRoom)) count(network, -1);
      };
      const makeRoom = () => {
        end();
        abandon();
      };
      running.add(makeRoom);
      count(network, 1);
      return end;
    },
  };
}
