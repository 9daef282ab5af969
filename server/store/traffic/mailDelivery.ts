/** What becomes of what an environment sends. */
import { type RawBuilder, sql } from "kysely";
import type { Database, DatabaseTransaction, MailDelivery } from "../database.ts";

/** SQL: whether what the environment in the alias sends is to be sent, where there is a mail server. */
export function maySend(alias: string): RawBuilder<boolean> {
  const delivery = sql.ref(`${alias}.mail_delivery`);
  return sql<boolean>`coalesce(${delivery} = 'send', ${sql.ref(`${alias}.name`)} = 'live')`;
}

/** Null if there is no such environment to be seen. */
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
 * What waits to be sent is kept from now on where it is to be; what was kept stays so. A message that is being handed to the
 * mail server at the moment still gets there.
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
