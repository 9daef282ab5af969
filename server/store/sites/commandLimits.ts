/** Limits of WP-CLI commands in an environment. */
import { limitsInForce } from "../company/companyLimits.ts";
import type { Database } from "../database.ts";
import { maySend } from "../traffic/mailDelivery.ts";

interface CommandLimits {
  readonly memoryMb: number;
  /** The largest size that the environment may have, or null for no limit. */
  readonly quotaBytes: number | null;
  readonly maySendMail: boolean;
}

/** Returns null if the environment is gone. `defaultQuotaBytes` applies to environments without their own quota. */
export async function findCommandLimits(
  database: Database,
  environmentId: string,
  defaultQuotaBytes: number | null,
): Promise<CommandLimits | null> {
  const { memoryMb, quotaBytes } = limitsInForce(defaultQuotaBytes);
  const row = await database
    .selectFrom("environments as e")
    .leftJoin("limits_of_companies as c", "c.company_id", "e.company_id")
    .select([memoryMb.as("memoryMb"), quotaBytes.as("quotaBytes"), maySend("e").as("maySendMail")])
    .where("e.id", "=", environmentId)
    .executeTakeFirst();
  return row ?? null;
}
