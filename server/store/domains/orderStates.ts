/** The state of a domain's certificate order, for display. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";
import { isEligible, nextDueAt } from "./certificateOrders.ts";

export interface OrderState {
  /** Whether the authority has an order for it. */
  readonly isUnderWay: boolean;
  /** Null if nothing will be ordered as things are. */
  readonly nextTryAt: Date | null;
  /** Consecutive failed attempts. */
  readonly failures: number;
  /** Why the last attempt failed, or null. */
  readonly lastError: string | null;
  readonly lastErrorAt: Date | null;
  /** The end of the authority's rate limit, or null if there is none. */
  readonly limitedUntil: Date | null;
}

/** Returns null if nothing is, was or will be ordered for the domain. `directory` is the authority's URL. */
export async function findOrderState(
  database: Database | DatabaseTransaction,
  domainId: string,
  { directory, now }: { readonly directory: string; readonly now: Date },
): Promise<OrderState | null> {
  const limited = sql`greatest(
    case when o.limited_until > ${now}::timestamptz then o.limited_until end,
    case when a.wait_until > ${now}::timestamptz then a.wait_until end)`;
  const { rows } = await sql<OrderState>`
    select o.url is not null as "isUnderWay", coalesce(o.failures, 0) as failures, o.last_error as "lastError",
      o.last_error_at as "lastErrorAt", ${limited} as "limitedUntil",
      case when o.url is not null then greatest(o.next_try_at, ${limited})
        when ${isEligible} then greatest(o.next_try_at, coalesce(${nextDueAt(now)}, ${now}::timestamptz), ${limited})
        end as "nextTryAt"
    from domains d
    left join certificate_orders o on o.domain_id = d.id
    left join acme_accounts a on a.directory = ${directory}
    where d.id = ${domainId} and (o.domain_id is not null or ${isEligible})`.execute(database);
  return rows[0] ?? null;
}

/** Resets the back-off, so that a certificate is ordered at once. Rate limits of the authority stay in force. */
export async function resetBackoff(transaction: DatabaseTransaction, domainId: string): Promise<void> {
  await sql`
    update certificate_orders set next_try_at = now(), failures = 0
    where domain_id = ${domainId} and url is null and (limited_until is null or limited_until < now())
  `.execute(transaction);
}
