/** Limits of WP-CLI commands in an environment. */
import type { Database } from "../database.ts";
import { maySend } from "../traffic/mailDelivery.ts";

interface CommandLimits {
  readonly memoryMb: number;
  /** The quota in force, or null. */
  readonly quotaBytes: number | null;
  readonly maySendMail: boolean;
}

/** Returns null if the environment is gone. `defaultQuotaBytes` applies to environments without their own quota. */
export async function findCommandLimits(
  database: Database,
  environmentId: string,
  defaultQuotaBytes: number | null,
): Promise<CommandLimits | null> {
  const row = await database
    .selectFrom("environments as e")
    .select(["e.php_memory_mb as memoryMb", "e.disk_quota_bytes as quotaBytes", maySend("e").as("maySendMail")])
    .where("e.id", "=", environmentId)
    .executeTakeFirst();
  return row ? { ...row, quotaBytes: row.quotaBytes ?? defaultQuotaBytes } : null;
}
