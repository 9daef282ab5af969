/** What a command may take that is run in an environment, as a row. */
import type { Database } from "../database.ts";
import { maySend } from "../traffic/mailDelivery.ts";

export interface CommandLimits {
  readonly memoryMb: number;
  /** In force; null: none. */
  readonly quotaBytes: number | null;
  readonly maySendMail: boolean;
}

/** Null if the environment is gone. `usualQuotaBytes` is of those without a quota of their own. */
export async function findCommandLimits(
  database: Database,
  environmentId: string,
  usualQuotaBytes: number | null,
): Promise<CommandLimits | null> {
  const row = await database
    .selectFrom("environments as e")
    .select(["e.php_memory_mb as memoryMb", "e.disk_quota_bytes as quotaBytes", maySend("e").as("maySendMail")])
    .where("e.id", "=", environmentId)
    .executeTakeFirst();
  return row ? { ...row, quotaBytes: row.quotaBytes ?? usualQuotaBytes } : null;
}
