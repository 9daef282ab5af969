/**
 * The queue of outgoing mail. A process claims a message for longer than an attempt can take, and no other process
 * touches it until then. The claim of a killed process expires.
 */
import { sql } from "kysely";
import type { Database, DatabaseTransaction, RefusedRecipient } from "../database.ts";
import { maySend } from "./mailDelivery.ts";

export interface ClaimedMail {
  readonly id: string;
  readonly environmentId: string;
  /** The environment's primary domain. */
  readonly host: string;
  readonly sender: string | null;
  /** Recipients that have not received it yet. */
  readonly waiting: readonly string[];
  readonly message: Buffer;
  /** Including this one. */
  readonly attempts: number;
  readonly createdAt: Date;
  readonly queuedAt: Date;
  /** For `settleMail`. */
  readonly claimedUntil: Date;
}

interface ClaimOptions {
  readonly seconds: number;
  /** Maximum number of recipients per environment and hour, in addition to the limit of the company. */
  readonly recipientsPerHour: number;
}

/** Bytes per second over the slowest connection; larger messages are claimed for longer. */
const minBytesPerSecond = 20_000;

const isDue = sql`
  m.state = 'queued' and m.next_attempt_at <= now() and (m.claimed_until is null or m.claimed_until < now())`;

/**
 * Claims the next message for `seconds`, or returns null. Fair between companies, and between their environments: prefers the
 * one with the fewest claimed messages, then the one with the fewest recipients in the last hour.
 */
export async function claimMail(database: Database, options: ClaimOptions): Promise<ClaimedMail | null> {
  for (const candidate of await listCandidates(database, options.recipientsPerHour)) {
    const claimed = await claimIn(database, candidate, options);
    if (claimed !== null) return claimed;
  }
  return null;
}

interface Candidate {
  readonly environmentId: string;
  /** How many recipients may still get mail in this hour. */
  readonly left: number;
  /** Whether the hour's limit is untouched. A message with more recipients than the limit is then sent alone. */
  readonly isFirst: boolean;
}

async function listCandidates(database: Database, recipientsPerHour: number): Promise<readonly Candidate[]> {
  const { rows } = await sql<Candidate>`
    with due as (
      select distinct m.environment_id, e.company_id from mails m join environments e on e.id = m.environment_id
      where ${isDue}
    ), used as (
      select e.id as environment_id, e.company_id, busy.messages, busy.recipients + sent.recipients as recipients
      from environments e
        cross join lateral (
          select count(*) as messages, coalesce(sum(cardinality(m.waiting)), 0) as recipients from mails m
          where m.environment_id = e.id and m.state = 'queued' and m.claimed_until >= now()
        ) busy
        cross join lateral (
          select coalesce(sum(cardinality(m.recipients)), 0) as recipients from mails m
          where m.environment_id = e.id and m.sent_at > now() - interval '1 hour'
        ) sent
      where e.company_id in (select company_id from due)
    ), company as (
      select u.company_id, sum(u.messages) as messages, sum(u.recipients) as recipients, c.mail_recipients_per_hour as most
      from used u left join limits_of_companies c on c.company_id = u.company_id
      group by u.company_id, c.mail_recipients_per_hour
    )
    select environment_id as "environmentId", (u.recipients = 0 and (c.most is null or c.recipients = 0)) as "isFirst",
      least(${recipientsPerHour} - u.recipients, c.most - c.recipients)::integer as left
    from due join used u using (environment_id) join company c on c.company_id = u.company_id
    where least(${recipientsPerHour} - u.recipients, c.most - c.recipients) > 0
    order by c.messages, c.recipients, u.messages, u.recipients, environment_id`.execute(database);
  return rows;
}

/** The time is in milliseconds, which JavaScript can represent. */
async function claimIn(
  database: Database,
  { environmentId, left, isFirst }: Candidate,
  { seconds }: ClaimOptions,
): Promise<ClaimedMail | null> {
  const { rows } = await sql<ClaimedMail>`
    with chosen as (
      select m.id from mails m
      where m.environment_id = ${environmentId} and ${isDue}
        and (${isFirst} or cardinality(m.waiting) <= ${left})
      order by m.next_attempt_at, m.created_at limit 1 for update skip locked
    )
    update mails m set attempts = m.attempts + 1,
      claimed_until = date_trunc('milliseconds', now()) + make_interval(secs => ${seconds} + m.bytes / ${minBytesPerSecond})
    from chosen, domains d
    where m.id = chosen.id and d.environment_id = m.environment_id and d.is_primary
    returning m.id, m.environment_id as "environmentId", d.name as host, m.sender, m.waiting, m.message, m.attempts,
      m.created_at as "createdAt", m.queued_at as "queuedAt", m.claimed_until as "claimedUntil"`.execute(database);
  return rows[0] ?? null;
}

interface Settlement {
  readonly id: string;
  readonly claimedUntil: Date;
  readonly hasAccepted: boolean;
  readonly refused: readonly RefusedRecipient[];
  readonly deferred: readonly string[];
  /** When to retry the deferred recipients; null to give up. */
  readonly nextAttemptAt: Date | null;
  readonly lastError: string | null;
}

/** Records the result of an attempt. Does nothing if the row is gone or another process has claimed it. */
export async function settleMail(database: Database, settlement: Settlement): Promise<void> {
  const { id, claimedUntil, hasAccepted, refused, deferred, nextAttemptAt, lastError } = settlement;
  // Recipients refused in this attempt are not in the row yet.
  const finalState =
    refused.length > 0 ? sql`'bounced'` : sql`case when m.refused = '[]' then 'sent' else 'bounced' end`;
  const retryState = sql`case when m.is_wanted or ${maySend("e")} then 'queued' else 'kept' end`;
  const state = deferred.length === 0 ? finalState : nextAttemptAt === null ? sql`'failed'` : retryState;
  await sql`
    update mails m set state = ${state}, waiting = ${deferred}::text[], refused = m.refused || ${JSON.stringify(refused)}::jsonb,
      next_attempt_at = case when ${state} = 'queued' then ${nextAttemptAt}::timestamptz end, claimed_until = null, last_error = ${lastError},
      sent_at = case when ${hasAccepted} then now() else m.sent_at end
    from environments e
    where m.id = ${id} and m.claimed_until = ${claimedUntil} and e.id = m.environment_id`.execute(database);
}

/** Queues a kept or failed mail for all recipients that have not received it. */
export async function queueMail(transaction: DatabaseTransaction, id: string): Promise<void> {
  await sql`
    update mails m set state = 'queued', is_wanted = true, attempts = 0, queued_at = now(), next_attempt_at = now(),
      claimed_until = null, last_error = null, refused = '[]',
      waiting = array(select r from unnest(m.recipients) r
        where r = any(m.waiting) or exists (select from jsonb_array_elements(m.refused) f where f ->> 'recipient' = r))
    where m.id = ${id}`.execute(transaction);
}
