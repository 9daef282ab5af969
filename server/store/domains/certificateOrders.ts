/**
 * Which domains need a certificate from the authority, and what is under way for each. Whoever is at one holds it for a time
 * that it makes longer as it goes; a process that is killed loses its hold by the time's passing, and the next one goes on with
 * the same order.
 */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";
import { isForName } from "./certificates.ts";

export interface ClaimedOrder {
  readonly domainId: string;
  readonly name: string;
  readonly isWildcard: boolean;
  /** It was seen to point here, so that the authority finds at the edge what it looks for. */
  readonly pointsHere: boolean;
  /** Where our DNS answers what the authority asks about the name; null: nowhere. */
  readonly challengeName: string | null;
  readonly companyId: string;
  readonly environmentId: string;
  /** The authority of the order that is under way; null: none is. */
  readonly directory: string | null;
  readonly url: string | null;
  /** Of that order. */
  readonly names: readonly string[];
  readonly certificateId: string | null;
  readonly keySealed: Buffer | null;
  readonly leftOut: readonly string[];
  readonly failures: number;
}

/** By which the moment of renewal is brought forward, of a certificate's life at most: not all are due together. */
const spread = 0.05;

/** A customer's own is replaced in time, where the customer does not. */
const customAhead = "1 day";

/** SQL: the domain `d` is served under a name of its owner's, and there is a way to show an authority that it is. */
export const isEligible = sql<boolean>`(
  d.is_active and (d.points_here_at is not null or d.challenge_name is not null) and d.setup_type <> 'temporary'
  and exists (select from environments e where e.id = d.environment_id and e.state = 'serving'))`;

/** SQL: when a certificate is wanted that follows those that are valid now for the domain `d`; null: there is none. */
export const nextWantedAt = (now: Date) => sql<Date | null>`(
  select max(case c.source
    when 'custom' then c.not_after - least(interval '${sql.raw(customAhead)}', (c.not_after - c.not_before) / 3)
    else c.not_after - (c.not_after - c.not_before) * (1.0 / 3 + ${spread}::float8 * abs(hashtext(d.id::text) % 1000) / 1000)
    end)
  from certificates c
  where c.environment_id = d.environment_id and c.not_before <= ${now}::timestamptz and c.not_after > ${now}::timestamptz
    and ${isForName("c", "d")})`;

/** SQL: the domain `d` is to have a certificate ordered. */
export const isWanted = (now: Date) => sql<boolean>`(
  ${isEligible} and coalesce(${nextWantedAt(now)}, ${now}::timestamptz) <= ${now}::timestamptz)`;

/** The domain that is due, held for so many seconds; null if there is none. Takes orders that were begun first. */
export async function claimOrder(database: Database, now: Date, seconds: number): Promise<ClaimedOrder | null> {
  await sql`
    insert into certificate_orders (domain_id, next_try_at)
    select d.id, ${now}::timestamptz from domains d
    where ${isWanted(now)} and not exists (select from certificate_orders o where o.domain_id = d.id)
    on conflict do nothing`.execute(database);
  const { rows } = await sql<ClaimedOrder>`
    with chosen as (
      select o.domain_id from certificate_orders o join domains d on d.id = o.domain_id
      where o.next_try_at <= ${now}::timestamptz and (o.claimed_until is null or o.claimed_until < now())
        and (o.url is not null or ${isWanted(now)})
      order by o.url is null, o.next_try_at limit 1 for update of o skip locked
    )
    update certificate_orders o set claimed_until = now() + make_interval(secs => ${seconds}::float8)
    from chosen, domains d
    where o.domain_id = chosen.domain_id and d.id = o.domain_id
    returning d.id as "domainId", d.name, d.is_wildcard as "isWildcard",
      d.points_here_at is not null as "pointsHere", d.challenge_name as "challengeName", d.company_id as "companyId",
      d.environment_id as "environmentId", o.directory, o.url, o.names, o.certificate_id as "certificateId",
      o.key_sealed as "keySealed", o.left_out as "leftOut", o.failures`.execute(database);
  return rows[0] ?? null;
}

/** Makes the hold last for so many seconds from now. */
export async function holdOrder(database: Database, domainId: string, seconds: number): Promise<void> {
  await database
    .updateTable("certificate_orders")
    .set({ claimed_until: sql<Date>`now() + make_interval(secs => ${seconds}::float8)` })
    .where("domain_id", "=", domainId)
    .execute();
}

export interface BegunOrder {
  readonly directory: string;
  readonly url: string;
  readonly names: readonly string[];
}

export async function keepOrder(database: Database, domainId: string, order: BegunOrder): Promise<void> {
  await database
    .updateTable("certificate_orders")
    .set({
      directory: order.directory,
      url: order.url,
      names: [...order.names],
      certificate_id: null,
      key_sealed: null,
    })
    .where("domain_id", "=", domainId)
    .execute();
}

/** The order's certificate id and encrypted key: the ones stored first. Null if the order is gone. */
export async function keepKey(
  database: Database,
  domainId: string,
  certificateId: string,
  keySealed: Buffer,
): Promise<{ readonly certificateId: string; readonly keySealed: Buffer } | null> {
  await database
    .updateTable("certificate_orders")
    .set({ certificate_id: certificateId, key_sealed: keySealed })
    .where("domain_id", "=", domainId)
    .where("key_sealed", "is", null)
    .execute();
  const row = await database
    .selectFrom("certificate_orders")
    .select(["certificate_id", "key_sealed"])
    .where("domain_id", "=", domainId)
    .executeTakeFirst();
  if (!row?.certificate_id || !row.key_sealed) return null;
  return { certificateId: row.certificate_id, keySealed: row.key_sealed };
}

const ended = { url: null, names: [], certificate_id: null, key_sealed: null, claimed_until: null };
const untroubled = { failures: 0, last_error: null, last_error_at: null, limited_until: null };

/** The certificate is there. The names that came along are tried again with the next one, which is not begun before that. */
export async function endOrder(transaction: DatabaseTransaction, domainId: string, nextTryAt: Date): Promise<void> {
  await transaction
    .updateTable("certificate_orders")
    .set({ ...ended, ...untroubled, left_out: [], next_try_at: nextTryAt })
    .where("domain_id", "=", domainId)
    .execute();
  await transaction.deleteFrom("acme_challenges").where("domain_id", "=", domainId).execute();
}

export interface Setback {
  /** In a sentence, for people; null: nothing went wrong, it only takes longer. */
  readonly error: string | null;
  readonly nextTryAt: Date;
  /** Whether the order can come to nothing any more, so that the next try begins another. */
  readonly isOver: boolean;
  /** It counts as a failure, after which it is waited longer. */
  readonly isFailure: boolean;
  /** Until when the authority takes none; null if that is not why. */
  readonly limitedUntil: Date | null;
  readonly leftOut: readonly string[];
}

/** Ends a try, and says when the next one is. */
export async function setBack(database: Database, domainId: string, now: Date, setback: Setback): Promise<void> {
  const { error, nextTryAt, isOver, isFailure, limitedUntil, leftOut } = setback;
  await database
    .updateTable("certificate_orders")
    .set(({ eb }) => ({
      ...(isOver ? ended : { claimed_until: null }),
      next_try_at: nextTryAt,
      limited_until: limitedUntil,
      left_out: [...leftOut],
      ...(isFailure && { failures: eb("failures", "+", 1) }),
      ...(error !== null && { last_error: error, last_error_at: now }),
    }))
    .where("domain_id", "=", domainId)
    .execute();
}

/** Any number; the second part of the lock is the name's. */
const boundLocks = 4_711_015;

/**
 * Counts an order for names below one that is registered. Null if it may be begun; else when the next one may, because
 * there were `most` in the last hour. `now` is the database's own.
 */
export async function countOrder(database: Database, registrable: string, most: number): Promise<Date | null> {
  return database.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(${boundLocks}, hashtext(${registrable}))`.execute(transaction);
    await sql`delete from begun_orders where began_at < now() - interval '1 day'`.execute(transaction);
    const { rows } = await sql<{ began_at: Date }>`
      select began_at from begun_orders
      where registrable = ${registrable} and began_at > now() - interval '1 hour'
      order by began_at desc limit 1 offset ${most - 1}`.execute(transaction);
    const [oldest] = rows;
    if (oldest) return new Date(oldest.began_at.getTime() + 3_600_000);
    await transaction.insertInto("begun_orders").values({ registrable }).execute();
    return null;
  });
}
