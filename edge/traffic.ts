/** Bytes sent to visitors since the edge started, by environment. */
import type { VisitorRequest, VisitorResponse } from "./http/visitorHttp.ts";

export interface Traffic {
  /** Counts the bytes of a response. Calls for a response that is already counted have no effect. */
  follow(request: VisitorRequest, response: VisitorResponse, environmentId: string): void;
  /** In bytes, heads included. */
  sent(): ReadonlyMap<string, number>;
}

export function createTraffic(): Traffic {
  const sent = new Map<string, number>();
  const followed = new WeakSet<VisitorResponse>();
  return {
    follow({ socket }, response, environmentId) {
      if (followed.has(response)) return;
      followed.add(response);
      const before = socket.bytesWritten;
      response.once("close", () => {
        const bytes = response.bytesSent ?? socket.bytesWritten - before;
        sent.set(environmentId, (sent.get(environmentId) ?? 0) + bytes);
      });
    },
    sent: () => sent,
  };
}
