/** Activity entries of calls that start no operation. */
import type { ActivityType } from "@sitewright/contract/company/activity.ts";
import type { ActivityCategory } from "@sitewright/contract/operationKinds.ts";
import { endActivity, recordActivity } from "@sitewright/server/store/company/activity.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import type { Context } from "../context.ts";

/** Writes an entry that is already done, in the transaction of the change. */
export async function recordDone(
  context: Context,
  transaction: DatabaseTransaction,
  entry: {
    readonly type: ActivityType;
    readonly category: ActivityCategory;
    /** Omit for entries about the whole company. */
    readonly siteId?: string;
    readonly parameters: Record<string, string>;
  },
): Promise<void> {
  const id = await recordActivity(transaction, {
    companyId: context.caller.companyId,
    siteId: entry.siteId ?? null,
    category: entry.category,
    type: entry.type,
    parameters: entry.parameters,
    actor: context.actor,
  });
  await endActivity(transaction, id, { hasFailed: false });
}
