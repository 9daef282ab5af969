/** What was sent to visitors, by environment, since this edge began. */
import type { IncomingMessage, ServerResponse } from "node:http";

export interface Traffic {
  /** Counts what is sent until the response is over; a second time for the same response changes nothing. */
  follow(request: IncomingMessage, response: ServerResponse, environmentId: string): void;
  /** In bytes, heads included. */
  sent(): ReadonlyMap<string, number>;
}

export function createTraffic(): Traffic {
  const sent = new Map<string, number>();
  const followed = new WeakSet<ServerResponse>();
  return {
    follow({ socket }, response, environmentId) {
      if (followed.has(response)) return;
      followed.add(response);
      const before = socket.bytesWritten;
      response.once("close", () => {
        sent.set(environmentId, (sent.get(environmentId) ?? 0) + socket.bytesWritten - before);
      });
    },
    sent: () => sent,
  };
}
