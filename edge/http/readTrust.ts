/** Remembers which networks' connections need not be read in slices (`readPace.ts`). */
import { LRUCache } from "lru-cache";

const maxNetworks = 10_000;
/** How long a network is not trusted after a chunked body, which then is sliced. Milliseconds. */
const distrustMilliseconds = 600_000;

export interface ReadTrust<Connection> {
  /** Whether the connection may be read directly. If so, it has to be released when it closes. */
  take(network: string, connection: Connection): boolean;
  release(network: string, connection: Connection): void;
  /** Notes a request without a chunked body. */
  noteRequest(network: string): void;
  /** Notes a chunked body. Returns the network's connections that must be sliced from now on. */
  noteChunks(network: string): readonly Connection[];
}

/** `now`: in milliseconds, never going back. */
export function createReadTrust<Connection>(now: () => number = () => performance.now()): ReadTrust<Connection> {
  const trusted = new LRUCache<string, true>({ max: maxNetworks });
  /** When each network may be trusted again. */
  const distrusted = new LRUCache<string, number>({ max: maxNetworks });
  const direct = new Map<string, Set<Connection>>();
  return {
    take(network, connection) {
      if (!trusted.has(network)) return false;
      const connections = direct.get(network) ?? new Set();
      direct.set(network, connections.add(connection));
      return true;
    },
    release(network, connection) {
      const connections = direct.get(network);
      connections?.delete(connection);
      if (connections?.size === 0) direct.delete(network);
    },
    noteRequest(network) {
      if (!trusted.has(network) && (distrusted.get(network) ?? 0) <= now()) trusted.set(network, true);
    },
    noteChunks(network) {
      trusted.delete(network);
      distrusted.set(network, now() + distrustMilliseconds);
      const connections = [...(direct.get(network) ?? [])];
      direct.delete(network);
      return connections;
    },
  };
}
