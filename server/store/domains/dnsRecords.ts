/** Record sets of zones. Names are in lower case, without the final dot. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";

export type DnsRecordSetRow = {
  readonly name: string;
  readonly type: string;
  /** Seconds. */
  readonly ttl: number;
  readonly values: readonly string[];
};

type Key = Pick<DnsRecordSetRow, "name" | "type">;

/** Lists the records of a zone by name and type. */
export async function listDnsRecords(
  database: Database | DatabaseTransaction,
  zoneId: string,
): Promise<readonly DnsRecordSetRow[]> {
  return database
    .selectFrom("dns_records")
    .select(["name", "type", "ttl", "resource_records as values"])
    .where("zone_id", "=", zoneId)
    .orderBy("name")
    .orderBy("type")
    .execute();
}

/** Lists the records of the domain and below it; empty if it has no zone. */
export async function listDnsRecordsOfDomain(
  database: Database | DatabaseTransaction,
  domainId: string,
): Promise<readonly DnsRecordSetRow[]> {
  const { rows } = await sql<DnsRecordSetRow>`
    select r.name, r.type, r.ttl, r.resource_records as "values" from domains d join dns_records r on r.zone_id = d.zone_id
    where d.id = ${domainId} and (r.name = d.name or right(r.name, length(d.name) + 1) = '.' || d.name)
    order by r.name, r.type`.execute(database);
  return rows;
}

export async function findDnsRecordSet(
  database: Database | DatabaseTransaction,
  zoneId: string,
  { name, type }: Key,
): Promise<DnsRecordSetRow | null> {
  const found = await database
    .selectFrom("dns_records")
    .select(["name", "type", "ttl", "resource_records as values"])
    .where("zone_id", "=", zoneId)
    .where("name", "=", name)
    .where("type", "=", type)
    .executeTakeFirst();
  return found ?? null;
}

/** Replaces the record set of that name and type; null removes it. */
export async function setDnsRecordSet(
  transaction: DatabaseTransaction,
  zoneId: string,
  { name, type }: Key,
  set: DnsRecordSetRow | null,
): Promise<void> {
  if (set === null) {
    const records = transaction.deleteFrom("dns_records").where("zone_id", "=", zoneId);
    await records.where("name", "=", name).where("type", "=", type).execute();
    return;
  }
  const content = { ttl: set.ttl, resource_records: [...set.values] };
  await transaction
    .insertInto("dns_records")
    .values({ zone_id: zoneId, name, type, ...content })
    .onConflict((conflict) => conflict.columns(["zone_id", "name", "type"]).doUpdateSet(content))
    .execute();
}
