/** Stores the edge's counts of requests, and removes old ones. */

import type { EdgeClient } from "../clients/edgeClient.ts";
import type { Database } from "../store/database.ts";
import { addAnalytics, deleteAnalytics } from "../store/traffic/analytics.ts";

interface CollectAnalyticsOptions {
  readonly database: Database;
  readonly edge: Pick<EdgeClient, "analytics">;
}

/**
 * Returns a function that stores the minutes that are over. The edge keeps them until it hears that they are stored, so nothing is
 * missing if either process ends, and each is stored once, so nothing is counted twice.
 */
export function makeCollectAnalytics({ database, edge }: CollectAnalyticsOptions): () => Promise<void> {
  let stored: Parameters<EdgeClient["analytics"]>[0] = null;
  return async () => {
    for (;;) {
      const { run, last, minutes } = await edge.analytics(stored);
      await addAnalytics(database, minutes);
      stored = { run, last };
      if (minutes.length === 0) return;
    }
  };
}

export async function expireAnalytics({ database }: Pick<CollectAnalyticsOptions, "database">): Promise<void> {
  await deleteAnalytics(database);
}
