/** Storage of outgoing mail: insertion, lists and deletion. See `mailQueue.ts` for delivery. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction, MailState, RefusedRecipient } from "../database.ts";
import { totalOf } from "../totals.ts";
import { maySend } from "./mailDelivery.ts";

export interface NewMail {
  readonly id: string;
  readonly environmentId: string;
  readonly sender: string | null;
  readonly from: string;
  readonly subject: string;
  readonly recipients: readonly string[];
  readonly message: Buffer;
}

/**
 * Queues or keeps a message, depending on its environment. Idempotent by id. Does nothing if the environment is gone.
 * `hasServer` says whether there is a mail server.
 */
export async function insertMail(database: Database, mail: NewMail, hasServer: boolean): Promise<void> {
  const { id, environmentId, sender, from, subject, recipients, message } = mail;
  const isQueued = sql`${hasServer}::boolean and ${maySend("e")}`;
  await sql`
    insert into mails (id, company_id, site_id, environment_id, sender, from_field, subject, recipients, waiting, message,
      bytes, state, queued_at, next_attempt_at)
    select ${id}, e.company_id, e.site_id, e.id, ${sender}, ${from}, ${subject}, ${recipients}::text[], ${recipients}::text[],
      ${message}::bytea, ${message.length}, case when ${isQueued} then 'queued' else 'kept' end,
      case when ${isQueued} then now() end, case when ${isQueued} then now() end
    from environments e where e.id = ${environmentId}
    on conflict (id) do nothing`.execute(database);
}

/** Returns number and total size of queued messages by environment, without environments that have none. */
export async function countQueued(
  database: Database,
  environmentIds: readonly string[],
): Promise<ReadonlyMap<string, { readonly messages: number; readonly bytes: number }>> {
  const { rows } = await sql<{ id: string; messages: number; bytes: number }>`
    select environment_id as id, count(*)::integer as messages, sum(bytes)::bigint as bytes
    from mails where state = 'queued' and environment_id = any(${environmentIds}::uuid[]) group by 1`.execute(database);
  return new Map(rows.map(({ id, messages, bytes }) => [id, { messages, bytes }]));
}

/** A message in lists. */
export interface MailRecord {
  readonly id: string;
  readonly from_field: string;
  readonly subject: string;
  readonly recipients: string[];
  readonly refused: readonly RefusedRecipient[];
  readonly bytes: number;
  readonly state: MailState;
  readonly attempts: number;
  readonly last_error: string | null;
  readonly created_at: Date;
  readonly next_attempt_at: Date | null;
  readonly sent_at: Date | null;
}

interface MailPage {
  readonly environmentId: string;
  /** Null matches all. */
  readonly state: MailState | null;
  readonly limit: number;
  readonly offset: number;
}

const listedColumns = [
  ...(["id", "from_field", "subject", "recipients", "refused", "bytes", "state", "attempts", "last_error"] as const),
  ...(["created_at", "next_attempt_at", "sent_at"] as const),
] as const;

/** Returns a page of messages, newest first, and the total number. */
export async function listMails(
  database: Database,
  { environmentId, state, limit, offset }: MailPage,
): Promise<{ readonly items: MailRecord[]; readonly total: number }> {
  let query = database.selectFrom("mails").where("environment_id", "=", environmentId);
  if (state !== null) query = query.where("state", "=", state);
  const newestFirst = query.select(listedColumns).orderBy("created_at", "desc").orderBy("id");
  const items = await newestFirst.limit(limit).offset(offset).execute();
  const counted = query.select(({ fn }) => fn.countAll<number>().as("total"));
  const total = await totalOf({ limit, offset }, items, async () => (await counted.executeTakeFirstOrThrow()).total);
  return { items, total };
}

/** Returns a mail with its content, or null if the environment has no such mail. */
export async function findMail(
  database: Database | DatabaseTransaction,
  environmentId: string,
  id: string,
): Promise<(MailRecord & { readonly message: Buffer }) | null> {
  const row = await database
    .selectFrom("mails")
    .select([...listedColumns, "message"])
    .where("environment_id", "=", environmentId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row ?? null;
}

/** Returns a mail without its content, or null if the environment has no such mail. */
export async function findMailRecord(
  database: Database | DatabaseTransaction,
  environmentId: string,
  id: string,
): Promise<MailRecord | null> {
  const query = database.selectFrom("mails").where("environment_id", "=", environmentId).where("id", "=", id);
  return (await query.select(listedColumns).executeTakeFirst()) ?? null;
}

/** Locks a mail until the transaction ends and returns its state, or null if the environment has no such mail. */
export async function lockMail(
  transaction: DatabaseTransaction,
  environmentId: string,
  id: string,
): Promise<MailState | null> {
  const row = await transaction
    .selectFrom("mails")
    .select("state")
    .where("environment_id", "=", environmentId)
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  return row?.state ?? null;
}

/** Deletes one or all mails of an environment and returns their number. */
export async function deleteMails(
  transaction: DatabaseTransaction,
  environmentId: string,
  id: string | null,
): Promise<number> {
  let query = transaction.deleteFrom("mails").where("environment_id", "=", environmentId);
  if (id !== null) query = query.where("id", "=", id);
  const { numDeletedRows } = await query.executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

interface MailLimits {
  readonly days: number;
  /** Per environment. */
  readonly messages: number;
  readonly bytes: number;
}

/** Deletes mails older than `days`, and each environment's oldest mails beyond its limits. Keeps queued ones. */
export async function deleteOldMails(database: Database, { days, messages, bytes }: MailLimits): Promise<void> {
  await sql`
    delete from mails where id in (
      select id from (
        select id, created_at, row_number() over newest as place, sum(bytes) over newest as total
        from mails where state <> 'queued'
        window newest as (partition by environment_id order by created_at desc, id)
      ) not_queued
      where created_at < now() - make_interval(days => ${days}::integer) or place > ${messages} or total > ${bytes}
    )`.execute(database);
}
