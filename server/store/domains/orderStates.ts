/** How far the ordering of a domain's certificate has come, for people. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";
import { isEligible, nextWantedAt } from "./certificateOrders.ts";

export interface OrderState {
  /** The authority has an order for it. */
  readonly isUnderWay: boolean;
  /** Null: nothing will be ordered, as things are. */
  readonly nextTryAt: Date | null;
  /** Tries in a row that failed. */
  readonly failures: number;
  /** Why the last try failed; null: it did not. */
  readonly lastError: string | null;
  readonly lastErrorAt: Date | null;
  /** The authority takes nothing before that; null: it does. */
  readonly limitedUntil: Date | null;
}

/** Null if nothing is or was ordered for the domain, nor will be as things are. `directory` is the authority's. */
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
        when ${isEligible} then greatest(o.next_try_at, coalesce(${nextWantedAt(now)}, ${now}::timestamptz), ${limited})
        end as "nextTryAt"
    from domains d
    left join certificate_orders o on o.domain_id = d.id
    left join acme_accounts a on a.directory = ${directory}
    where d.id = ${domainId} and (o.domain_id is not null or ${isEligible})`.execute(database);
  return rows[0] ?? null;
}

/** A certificate is wanted at once: the back-off of before was for something else. What the authority limits stays limited. */
export async function orderSoon(transaction: DatabaseTransaction, domainId: string): Promise<void> {
  await sql`
    update certificate_orders set next_try_at = now(), failures = 0
    where domain_id = ${domainId} and url is null and (limited_until is null or limited_until < now())
  `.execute(transaction);
}
