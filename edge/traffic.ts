/** Bytes sent to visitors since the edge started, by environment. */
import type { VisitorRequest, VisitorResponse } from "./http/visitorHttp.ts";

export interface Traffic {
  /** Counts the bytes of a response. Calls for a response that is already counted have no effect. */
  track(request: VisitorRequest, response: VisitorResponse, environmentId: string): void;
  /** In bytes, heads included. */
  sent(): ReadonlyMap<string, number>;
}

export function createTraffic(): Traffic {
  const sent = new Map<string, number>();
  const tracked = new WeakSet<VisitorResponse>();
  return {
    track({ socket }, response, environmentId) {
      if (tracked.has(response)) return;
      tracked.add(response);
      const before = socket.bytesWritten;
      response.once("close", () => {
        const bytes = response.bytesSent ?? socket.bytesWritten - before;
        sent.set(environmentId, (sent.get(environmentId) ?? 0) + bytes);
      });
    },
    sent: () => sent,
  };
}
