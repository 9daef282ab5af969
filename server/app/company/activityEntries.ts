/** Activity of a call that is done when it is answered: no operation follows it. */
import type { ActivityType } from "@sitewright/contract/company/activity.ts";
import type { ActivityCategory } from "@sitewright/contract/operationKinds.ts";
import { endActivity, recordActivity } from "@sitewright/server/store/company/activity.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import type { Context } from "../context.ts";

/** Writes an entry that is done already, in the transaction that did it. */
export async function recordDone(
  context: Context,
  transaction: DatabaseTransaction,
  entry: {
    readonly type: ActivityType;
    readonly category: ActivityCategory;
    /** Absent: it is about the company as a whole. */
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
