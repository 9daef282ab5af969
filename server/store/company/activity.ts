/** The activity log: entries are written when an action is accepted and completed when it ends. */
import type { Actor, DatabaseTransaction } from "../database.ts";

/** The actor of actions that Sitewright takes by itself. */
export const systemActor: Actor = {
  userId: null,
  userRole: null,
  userFullName: null,
  userFirstName: null,
  apiKeyId: null,
  apiKeyName: null,
  ipAddress: null,
  browserName: null,
  browserVersion: null,
  osName: null,
};

interface ActivityEntry {
  /** Null for actions of the operator, which no company sees. */
  readonly companyId: string | null;
  readonly siteId: string | null;
  readonly category: string;
  readonly type: string;
  /** Values for the description: display names at that time. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly actor: Actor;
}

interface ActivityEnd {
  readonly hasFailed: boolean;
  readonly hasWarning?: boolean;
  readonly publicError?: string | null;
}

/** Writes the entry of an accepted, unfinished action and returns its id. */
export async function recordActivity(transaction: DatabaseTransaction, entry: ActivityEntry): Promise<number> {
  const { id } = await transaction
    .insertInto("activity")
    .values({
      company_id: entry.companyId,
      site_id: entry.siteId,
      category: entry.category,
      type: entry.type,
      parameters: JSON.stringify(entry.parameters),
      ip_address: entry.actor.ipAddress,
      user_id: entry.actor.userId,
      user_role: entry.actor.userRole,
      user_full_name: entry.actor.userFullName,
      user_first_name: entry.actor.userFirstName,
      api_key_id: entry.actor.apiKeyId,
      api_key_name: entry.actor.apiKeyName,
      browser_name: entry.actor.browserName,
      browser_version: entry.actor.browserVersion,
      os_name: entry.actor.osName,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

/** Writes the entry of an action of the operator, which is already done. */
export async function recordOperatorAction(
  transaction: DatabaseTransaction,
  entry: Pick<ActivityEntry, "type" | "parameters" | "actor">,
): Promise<void> {
  const more = { companyId: null, siteId: null, category: "operator" };
  await endActivity(transaction, await recordActivity(transaction, { ...entry, ...more }), { hasFailed: false });
}

/** Completes an entry. Does nothing if it is already done. */
export async function endActivity(transaction: DatabaseTransaction, id: number, end: ActivityEnd): Promise<void> {
  await transaction
    .updateTable("activity")
    .set({
      is_done: true,
      has_failed: end.hasFailed,
      has_warning: end.hasWarning ?? false,
      public_error: end.publicError ?? null,
      is_sealed: false,
    })
    .where("id", "=", id)
    .where("is_done", "=", false)
    .execute();
}

/** Completes the entry of an operation that is about to succeed, with a warning. */
export async function endActivityWithWarning(
  transaction: DatabaseTransaction,
  operationId: string,
  warning: string,
): Promise<void> {
  const { activity_id } = await transaction
    .selectFrom("operations")
    .select("activity_id")
    .where("id", "=", operationId)
    .executeTakeFirstOrThrow();
  await endActivity(transaction, activity_id, { hasFailed: false, hasWarning: true, publicError: warning });
}
