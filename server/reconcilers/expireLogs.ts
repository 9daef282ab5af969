/** Removes logs whose time is over, and all those of environments that are gone for good. */
import type { Logs } from "../logs/logs.ts";
import { knownEnvironments } from "../store/backups/deletedEnvironments.ts";
import type { Database } from "../store/database.ts";

export interface ExpireLogsOptions {
  readonly database: Database;
  readonly logs: Pick<Logs, "list" | "remove" | "removeBegunBefore">;
  readonly now?: () => number;
}

/** A line is kept for so long, and up to a day longer: files are removed as a whole. */
export const logDays = 30;
const day = 24 * 60 * 60 * 1000;

export async function expireLogs({ database, logs, now = Date.now }: ExpireLogsOptions): Promise<void> {
  // A row is there before its first visitor: what is listed first and has none then never gets one.
  const there = await logs.list();
  const known = await knownEnvironments(database, there);
  const earliest = new Date(now() - (logDays + 1) * day);
  for (const id of there) {
    if (known.has(id)) await logs.removeBegunBefore(id, earliest);
    else await logs.remove(id);
  }
}
