/** Metrics of certificates: expiry dates and states of orders. */
import { sql } from "kysely";
import type { Certificates, Database } from "../database.ts";
import { isCertificateDue } from "./certificateOrders.ts";
import { isForName } from "./certificates.ts";

interface Expiry {
  readonly domain: string;
  readonly source: Certificates["source"];
  readonly notAfter: Date;
}

/** Returns, for each served domain and source, the latest expiry of its certificates, even if it is past. */
export async function listExpiries(database: Database): Promise<readonly Expiry[]> {
  const { rows } = await sql<Expiry>`
    select d.name as domain, c.source, max(c.not_after) as "notAfter"
    from domains d join certificates c on c.environment_id = d.environment_id
      and ${isForName("c", "d")}
    where d.is_active group by d.name, c.source order by d.name, c.source`.execute(database);
  return rows;
}

export const orderStates = ["due", "under_way", "failing", "limited"] as const;
type OrderStateName = (typeof orderStates)[number];

/** Counts the domains that need a certificate by the state of the order. Each domain is counted once. */
export async function countOrders(database: Database, now: Date): Promise<Readonly<Record<OrderStateName, number>>> {
  const { rows } = await sql<{ state: OrderStateName; count: number }>`
    select case when o.limited_until > ${now}::timestamptz then 'limited' when o.url is not null then 'under_way'
      when o.failures > 0 then 'failing' else 'due' end as state, count(*)::int as count
    from domains d left join certificate_orders o on o.domain_id = d.id
    where o.url is not null or ${isCertificateDue(now)} group by 1`.execute(database);
  const none = { due: 0, under_way: 0, failing: 0, limited: 0 };
  return { ...none, ...Object.fromEntries(rows.map(({ state, count }) => [state, count])) };
}
