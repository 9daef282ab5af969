/** Whether an environment's outgoing mail is sent or kept. */
import { type RawBuilder, sql } from "kysely";
import type { Database, DatabaseTransaction, MailDelivery } from "../database.ts";

/** SQL expression: whether mail of the environment in `alias` is sent, if there is a mail server. */
export function maySend(alias: string): RawBuilder<boolean> {
  const delivery = sql.ref(`${alias}.mail_delivery`);
  return sql<boolean>`coalesce(${delivery} = 'send', ${sql.ref(`${alias}.name`)} = 'live')`;
}

/** Returns null if there is no such environment. */
export async function findMailDelivery(
  database: Database | DatabaseTransaction,
  environmentId: string,
): Promise<{ readonly display_name: string; readonly delivery: MailDelivery } | null> {
  const row = await database
    .selectFrom("environments as e")
    .select(["e.display_name", maySend("e").as("maySend")])
    .where("e.id", "=", environmentId)
    .where("e.state", "<>", "adding")
    .executeTakeFirst();
  return row ? { display_name: row.display_name, delivery: row.maySend ? "send" : "keep" } : null;
}

/**
 * Stores the setting. With "keep", queued messages are kept too, except one that is being sent at the moment. With
 * "send", kept messages stay kept.
 */
export async function setMailDelivery(
  transaction: DatabaseTransaction,
  environmentId: string,
  delivery: MailDelivery,
): Promise<void> {
  await transaction
    .updateTable("environments")
    .set({ mail_delivery: delivery })
    .where("id", "=", environmentId)
    .execute();
  if (delivery === "send") return;
  await transaction
    .updateTable("mails")
    .set({ state: "kept", next_attempt_at: null })
    .where("environment_id", "=", environmentId)
    .where("state", "=", "queued")
    .where("is_wanted", "=", false)
    .where(sql<boolean>`claimed_until is null or claimed_until < now()`)
    .execute();
}
