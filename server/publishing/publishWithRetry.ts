/** Publishing during a request. */
import { setTimeout as delay } from "node:timers/promises";
import { EdgeUnavailable } from "../clients/edgeClient.ts";
import type { Publisher } from "./publishRoutes.ts";

const pauseMilliseconds = 250;

/**
 * Resolves when the edge serves the state of the database at the time of the call. Retries while the edge is being restarted,
 * which takes seconds, and longer on a busy machine. Rejects with `EdgeUnavailable` if it is down for longer; the reconciler then
 * publishes later.
 */
export async function publishWithRetry(publisher: Pick<Publisher, "publish">, milliseconds = 60_000): Promise<void> {
  const deadline = performance.now() + milliseconds;
  for (;;) {
    try {
      return await publisher.publish();
    } catch (error) {
      if (!(error instanceof EdgeUnavailable) || performance.now() > deadline) throw error;
      await delay(pauseMilliseconds);
    }
  }
}
