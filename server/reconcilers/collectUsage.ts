/** Stores the edge's usage counters of each environment, and removes old usage records. */

import type { EdgeClient } from "../clients/edgeClient.ts";
import type { Database } from "../store/database.ts";
import { addUsage, deleteUsage } from "../store/traffic/usage.ts";

/** As promised by the API. */
const usageRetentionDays = 62;

type Report = Awaited<ReturnType<EdgeClient["usage"]>>;

interface CollectUsageOptions {
  readonly database: Database;
  readonly edge: Pick<EdgeClient, "usage">;
}

/**
 * Returns a function that stores what has changed since its last call; in the first call everything, which changes nothing that
 * is already stored. If the edge is killed, its counts since the last call are lost.
 */
export function makeCollectUsage({ database, edge }: CollectUsageOptions): () => Promise<void> {
  let stored: Omit<Report, "environments"> | null = null;
  return async () => {
    const { run, report, environments } = await edge.usage(stored);
    await store(database, { run, environments });
    stored = { run, report };
  };
}

async function store(database: Database, { run, environments }: Omit<Report, "report">): Promise<void> {
  await addUsage(
    database,
    run,
    environments.map((one) => ({
      environment_id: one.environmentId,
      recent_cores: one.recentCores,
      counters: {
        php_requests: one.phpRequests,
        php_milliseconds: Math.round(one.phpMilliseconds),
        cpu_milliseconds: Math.round(one.cpuMilliseconds),
        killed_for_time: one.killedForTime,
        killed_for_memory: one.killedForMemory,
        refused_busy: one.refusedBusy,
        bytes_sent: one.bytesSent,
        writes: one.writes,
      },
    })),
  );
}

export async function expireUsage({ database }: Pick<CollectUsageOptions, "database">): Promise<void> {
  await deleteUsage(database, usageRetentionDays);
}
