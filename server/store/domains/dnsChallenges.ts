/** TXT records for ACME challenges, in addition to the records of zones. */
import { sql } from "kysely";
import type { Database } from "../database.ts";
import { dnsGenerations } from "../generations.ts";
import { raiseSerialsAbove } from "./zones.ts";

/** `name` is in lower case, without the final dot. */
export interface DnsChallenge {
  readonly name: string;
  readonly value: string;
}

export async function listDnsChallenges(database: Database): Promise<readonly DnsChallenge[]> {
  const live = database
    .selectFrom("dns_challenges")
    .select(["name", "value"])
    .where("expires_at", ">", sql<Date>`now()`);
  return live.orderBy("name").orderBy("value").execute();
}

/** Adds a challenge for `seconds`. Idempotent. */
export function addDnsChallenge(database: Database, { name, value }: DnsChallenge, seconds: number): Promise<void> {
  return database.transaction().execute(async (transaction) => {
    await sql`
      insert into dns_challenges (name, value, expires_at) values (${name}, ${value}, now() + make_interval(secs => ${seconds}))
      on conflict (name, value) do update set expires_at = excluded.expires_at`.execute(transaction);
    await raiseSerialsAbove(transaction, name);
    await dnsGenerations.announce(transaction);
  });
}

/** Removes a challenge if it exists. */
export function removeDnsChallenge(database: Database, { name, value }: DnsChallenge): Promise<void> {
  return database.transaction().execute(async (transaction) => {
    await transaction.deleteFrom("dns_challenges").where("name", "=", name).where("value", "=", value).execute();
    await raiseSerialsAbove(transaction, name);
    await dnsGenerations.announce(transaction);
  });
}

/** Removes challenges whose process died before removing them. */
export async function removeExpiredDnsChallenges(database: Database): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const expired = transaction.deleteFrom("dns_challenges").where("expires_at", "<=", sql<Date>`now()`);
    const removed = await expired.returning("name").execute();
    for (const { name } of removed) await raiseSerialsAbove(transaction, name);
    if (removed.length > 0) await dnsGenerations.announce(transaction);
  });
}
