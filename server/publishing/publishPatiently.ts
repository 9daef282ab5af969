/** Publishing for a request that waits for it. */
import { setTimeout as delay } from "node:timers/promises";
import { EdgeUnavailable } from "../clients/edgeClient.ts";
import type { Publisher } from "./publishRoutes.ts";

const pauseMilliseconds = 250;

/**
 * Resolves when the edge serves what was in the database before. An edge that is being restarted is there again within
 * seconds, and is waited for; one that is away for longer gets it from the reconciler, and this rejects with
 * `EdgeUnavailable`.
 */
export async function publishPatiently(publisher: Pick<Publisher, "publish">, milliseconds = 10_000): Promise<void> {
  const until = performance.now() + milliseconds;
  for (;;) {
    try {
      return await publisher.publish();
    } catch (error) {
      if (!(error instanceof EdgeUnavailable) || performance.now() > until) throw error;
      await delay(pauseMilliseconds);
    }
  }
}
