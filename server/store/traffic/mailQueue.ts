/**
 * The delivery of messages as rows. Whoever delivers one holds it for a time that is longer than an attempt may take, and
 * nobody else touches it until then: a process that is killed loses its hold by the time's passing.
 */
import { sql } from "kysely";
import type { Database, DatabaseTransaction, RefusedRecipient } from "../database.ts";
import { maySend } from "./mailDelivery.ts";

export interface ClaimedMail {
  readonly id: string;
  readonly environmentId: string;
  /** The environment's own name. */
  readonly host: string;
  readonly sender: string | null;
  /** Those to whom it is still to be sent. */
  readonly waiting: readonly string[];
  readonly message: Buffer;
  /** This one included. */
  readonly attempts: number;
  readonly createdAt: Date;
  readonly queuedAt: Date;
  /** For `settle`. */
  readonly claimedUntil: Date;
}

export interface ClaimOptions {
  readonly seconds: number;
  /** How many recipients an environment may reach in an hour. */
  readonly recipientsPerHour: number;
}

/** In a second, over the worst line; what is larger is held longer. */
const slowestBytes = 20_000;

const isDue = sql`
  m.state = 'queued' and m.next_attempt_at <= now() and (m.claimed_until is null or m.claimed_until < now())`;

/**
 * The message whose turn it is, held for so many seconds; null if there is none. Of several environments, that with the
 * fewest under way comes first, then that which has sent to the fewest lately: none waits for another's thousands.
 */
export async function claimMail(database: Database, options: ClaimOptions): Promise<ClaimedMail | null> {
  for (const turn of await listTurns(database, options.recipientsPerHour)) {
    const claimed = await claimIn(database, turn, options);
    if (claimed !== null) return claimed;
  }
  return null;
}

interface Turn {
  readonly environmentId: string;
  /** How many recipients it has reached in the last hour, or is about to. */
  readonly recipients: number;
}

async function listTurns(database: Database, recipientsPerHour: number): Promise<readonly Turn[]> {
  const { rows } = await sql<Turn>`
    select due.environment_id as "environmentId", (busy.recipients + sent.recipients)::integer as recipients
    from (select distinct m.environment_id from mails m where ${isDue}) due
      cross join lateral (
        select count(*) as messages, coalesce(sum(cardinality(m.waiting)), 0) as recipients from mails m
        where m.environment_id = due.environment_id and m.state = 'queued' and m.claimed_until >= now()
      ) busy
      cross join lateral (
        select coalesce(sum(cardinality(m.recipients)), 0) as recipients from mails m
        where m.environment_id = due.environment_id and m.sent_at > now() - interval '1 hour'
      ) sent
    where busy.recipients + sent.recipients < ${recipientsPerHour}
    order by busy.messages, recipients, due.environment_id`.execute(database);
  return rows;
}

/** One that has more recipients than an hour allows goes alone. The time is one that JavaScript can say, too. */
async function claimIn(
  database: Database,
  { environmentId, recipients }: Turn,
  { seconds, recipientsPerHour }: ClaimOptions,
): Promise<ClaimedMail | null> {
  const { rows } = await sql<ClaimedMail>`
    with chosen as (
      select m.id from mails m
      where m.environment_id = ${environmentId} and ${isDue}
        and (${recipients}::integer = 0 or ${recipients}::integer + cardinality(m.waiting) <= ${recipientsPerHour})
      order by m.next_attempt_at, m.created_at limit 1 for update skip locked
    )
    update mails m set attempts = m.attempts + 1,
      claimed_until = date_trunc('milliseconds', now()) + make_interval(secs => ${seconds} + m.bytes / ${slowestBytes})
    from chosen, domains d
    where m.id = chosen.id and d.environment_id = m.environment_id and d.is_primary
    returning m.id, m.environment_id as "environmentId", d.name as host, m.sender, m.waiting, m.message, m.attempts,
      m.created_at as "createdAt", m.queued_at as "queuedAt", m.claimed_until as "claimedUntil"`.execute(database);
  return rows[0] ?? null;
}

export interface Settlement {
  readonly id: string;
  readonly claimedUntil: Date;
  readonly hasTaken: boolean;
  readonly refused: readonly RefusedRecipient[];
  /** To be tried again, at that time; null: never. */
  readonly delayed: readonly string[];
  readonly nextAttemptAt: Date | null;
  readonly lastError: string | null;
}

/** Writes what an attempt came to. Nothing happens where the row is gone, or is somebody else's by now. */
export async function settleMail(database: Database, settlement: Settlement): Promise<void> {
  const { id, claimedUntil, hasTaken, refused, delayed, nextAttemptAt, lastError } = settlement;
  // The refused of this attempt are not in the row yet.
  const isOver = refused.length > 0 ? sql`'bounced'` : sql`case when m.refused = '[]' then 'sent' else 'bounced' end`;
  const goesOn = sql`case when m.is_wanted or ${maySend("e")} then 'queued' else 'kept' end`;
  const state = delayed.length === 0 ? isOver : nextAttemptAt === null ? sql`'failed'` : goesOn;
  await sql`
    update mails m set state = ${state}, waiting = ${delayed}::text[], refused = m.refused || ${JSON.stringify(refused)}::jsonb,
      next_attempt_at = case when ${state} = 'queued' then ${nextAttemptAt}::timestamptz end, claimed_until = null, last_error = ${lastError},
      sent_at = case when ${hasTaken} then now() else m.sent_at end
    from environments e
    where m.id = ${id} and m.claimed_until = ${claimedUntil} and e.id = m.environment_id`.execute(database);
}

/** It is sent now, to all whom it has not reached, although it was kept or has failed. */
export async function queueMail(transaction: DatabaseTransaction, id: string): Promise<void> {
  await sql`
    update mails m set state = 'queued', is_wanted = true, attempts = 0, queued_at = now(), next_attempt_at = now(),
      claimed_until = null, last_error = null, refused = '[]',
      waiting = array(select r from unnest(m.recipients) r
        where r = any(m.waiting) or exists (select from jsonb_array_elements(m.refused) f where f ->> 'recipient' = r))
    where m.id = ${id}`.execute(transaction);
}
