/** Removes expired logs, and all logs of environments that can no longer be restored. */
import type { Logs } from "../logs/logs.ts";
import { knownEnvironments } from "../store/backups/deletedEnvironments.ts";
import type { Database } from "../store/database.ts";

interface ExpireLogsOptions {
  readonly database: Database;
  readonly logs: Pick<Logs, "list" | "remove" | "removeBegunBefore">;
  readonly now?: () => number;
}

/** Minimum retention of a line. It may be kept up to a day longer, because whole files are removed. */
const logDays = 30;
const day = 24 * 60 * 60 * 1000;

export async function expireLogs({ database, logs, now = Date.now }: ExpireLogsOptions): Promise<void> {
  // Rows exist before the first visit, so logs that were listed before the query and have no row are orphans.
  const listed = await logs.list();
  const known = await knownEnvironments(database, listed);
  const earliest = new Date(now() - (logDays + 1) * day);
  for (const id of listed) {
    if (known.has(id)) await logs.removeBegunBefore(id, earliest);
    else await logs.remove(id);
  }
}
