/**
 * Which domains need a certificate from the authority, and the state of each order. A process claims an order for a
 * limited time and extends the claim while it works. The claim of a killed process expires, and another process
 * continues the order.
 */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";
import { isForName } from "./certificates.ts";

export interface ClaimedOrder {
  readonly domainId: string;
  readonly name: string;
  readonly isWildcard: boolean;
  /** Whether its `www.` name is a domain of another environment, which has its own certificate. */
  readonly isWwwElsewhere: boolean;
  /** Whether it points here, so that the edge can answer challenges over HTTP. */
  readonly pointsHere: boolean;
  /** The name of the challenge that our DNS server answers, or null. */
  readonly challengeName: string | null;
  readonly companyId: string;
  readonly environmentId: string;
  /** The authority of the unfinished order, or null. */
  readonly directory: string | null;
  readonly url: string | null;
  /** The names of that order. */
  readonly names: readonly string[];
  readonly certificateId: string | null;
  readonly keySealed: Buffer | null;
  readonly leftOut: readonly string[];
  readonly failures: number;
}

/**
 * Renewals are brought forward by up to this fraction of the certificate's lifetime, so that not all are due at once.
 */
const spread = 0.05;

/** Custom certificates are replaced this long before they expire, if the customer has not done so. */
const customLeadTime = "1 day";

/** SQL expression: whether `d` is a customer's served domain for which an ACME challenge can be answered. */
export const isEligible = sql<boolean>`(
  d.is_active and (d.points_here_at is not null or d.challenge_name is not null) and d.setup_type <> 'temporary'
  and exists (select from environments e where e.id = d.environment_id and e.state = 'serving'))`;

/** SQL expression: when the domain `d` needs a new certificate; null if it has no valid one now. */
export const nextDueAt = (now: Date) => sql<Date | null>`(
  select max(case c.source
    when 'custom' then c.not_after - least(interval '${sql.raw(customLeadTime)}', (c.not_after - c.not_before) / 3)
    else c.not_after - (c.not_after - c.not_before) * (1.0 / 3 + ${spread}::float8 * abs(hashtext(d.id::text) % 1000) / 1000)
    end)
  from certificates c
  where c.environment_id = d.environment_id and c.not_before <= ${now}::timestamptz and c.not_after > ${now}::timestamptz
    and ${isForName("c", "d")})`;

/** SQL expression: whether a certificate must be ordered for the domain `d`. */
export const isCertificateDue = (now: Date) => sql<boolean>`(
  ${isEligible} and coalesce(${nextDueAt(now)}, ${now}::timestamptz) <= ${now}::timestamptz)`;

/**
 * Claims the next due domain for `seconds`, or returns null. Prefers unfinished orders, then the company with the fewest
 * claimed orders.
 */
export async function claimOrder(database: Database, now: Date, seconds: number): Promise<ClaimedOrder | null> {
  await sql`
    insert into certificate_orders (domain_id, next_try_at)
    select d.id, ${now}::timestamptz from domains d
    where ${isCertificateDue(now)} and not exists (select from certificate_orders o where o.domain_id = d.id)
    on conflict do nothing`.execute(database);
  const { rows } = await sql<ClaimedOrder>`
    with chosen as (
      select o.domain_id from certificate_orders o join domains d on d.id = o.domain_id
      where o.next_try_at <= ${now}::timestamptz and (o.claimed_until is null or o.claimed_until < now())
        and (o.url is not null or ${isCertificateDue(now)})
      order by o.url is null, (
        select count(*) from certificate_orders r join domains rd on rd.id = r.domain_id
        where rd.company_id = d.company_id and r.claimed_until >= now()), o.next_try_at
      limit 1 for update of o skip locked
    )
    update certificate_orders o set claimed_until = now() + make_interval(secs => ${seconds}::float8)
    from chosen, domains d
    where o.domain_id = chosen.domain_id and d.id = o.domain_id
    returning d.id as "domainId", d.name, d.is_wildcard as "isWildcard",
      exists (select from domains w where w.name = 'www.' || d.name and w.environment_id <> d.environment_id)
        as "isWwwElsewhere", d.points_here_at is not null as "pointsHere", d.challenge_name as "challengeName", d.company_id as "companyId",
      d.environment_id as "environmentId", o.directory, o.url, o.names, o.certificate_id as "certificateId",
      o.key_sealed as "keySealed", o.left_out as "leftOut", o.failures`.execute(database);
  return rows[0] ?? null;
}

/** Extends the claim to `seconds` from now. */
export async function extendClaim(database: Database, domainId: string, seconds: number): Promise<void> {
  await database
    .updateTable("certificate_orders")
    .set({ claimed_until: sql<Date>`now() + make_interval(secs => ${seconds}::float8)` })
    .where("domain_id", "=", domainId)
    .execute();
}

interface BegunOrder {
  readonly directory: string;
  readonly url: string;
  readonly names: readonly string[];
}

export async function storeOrder(database: Database, domainId: string, order: BegunOrder): Promise<void> {
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

/**
 * Stores the order's certificate id and sealed key, and returns those stored first. Returns null if the order is gone.
 */
export async function storeKey(
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
const noFailures = { failures: 0, last_error: null, last_error_at: null, limited_until: null };

/**
 * Ends a successful order. Names that were left out are included in the next order, which starts at `nextTryAt` or
 * later.
 */
export async function endOrder(transaction: DatabaseTransaction, domainId: string, nextTryAt: Date): Promise<void> {
  await transaction
    .updateTable("certificate_orders")
    .set({ ...ended, ...noFailures, left_out: [], next_try_at: nextTryAt })
    .where("domain_id", "=", domainId)
    .execute();
  await transaction.deleteFrom("acme_challenges").where("domain_id", "=", domainId).execute();
}

interface FailedAttempt {
  /** A sentence for users; null if nothing went wrong and it only takes longer. */
  readonly error: string | null;
  readonly nextTryAt: Date;
  /** Whether the order has failed for good, so that the next attempt starts a new one. */
  readonly isOver: boolean;
  /** Whether it counts as a failure and lengthens the back-off. */
  readonly isFailure: boolean;
  /** The end of the authority's rate limit, or null. */
  readonly limitedUntil: Date | null;
  readonly leftOut: readonly string[];
}

/** Ends an attempt and schedules the next one. */
export async function recordFailedAttempt(
  database: Database,
  domainId: string,
  now: Date,
  attempt: FailedAttempt,
): Promise<void> {
  const { error, nextTryAt, isOver, isFailure, limitedUntil, leftOut } = attempt;
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

/** An arbitrary number; the second part of the lock is the name's hash. */
const orderCountLocks = 4_711_015;

/**
 * Counts an order for names below a registrable domain and returns null, or, if there were `limit` orders in the last
 * hour, returns when the next one is allowed. Uses the database's clock.
 */
export async function countOrder(database: Database, registrable: string, limit: number): Promise<Date | null> {
  return database.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(${orderCountLocks}, hashtext(${registrable}))`.execute(transaction);
    await sql`delete from begun_orders where began_at < now() - interval '1 day'`.execute(transaction);
    const { rows } = await sql<{ began_at: Date }>`
      select began_at from begun_orders
      where registrable = ${registrable} and began_at > now() - interval '1 hour'
      order by began_at desc limit 1 offset ${limit - 1}`.execute(transaction);
    const [oldest] = rows;
    if (oldest) return new Date(oldest.began_at.getTime() + 3_600_000);
    await transaction.insertInto("begun_orders").values({ registrable }).execute();
    return null;
  });
}
