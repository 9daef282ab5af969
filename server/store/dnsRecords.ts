/** Record sets of zones. Names are in lower case and without the final dot. */
import type { Database, DatabaseTransaction } from "./database.ts";

export type DnsRecordSetRow = {
  readonly name: string;
  readonly type: string;
  /** Seconds. */
  readonly ttl: number;
  readonly values: readonly string[];
};

type Key = Pick<DnsRecordSetRow, "name" | "type">;

/** By name and type. */
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

/** Those of the domain and below it; none where it is in no zone. */
export async function listDnsRecordsOfDomain(
  database: Database,
  domainId: string,
): Promise<readonly DnsRecordSetRow[]> {
  return database
    .selectFrom("domains as d")
    .innerJoin("dns_records as r", "r.zone_id", "d.zone_id")
    .select(["r.name", "r.type", "r.ttl", "r.resource_records as values"])
    .where("d.id", "=", domainId)
    .where((where) =>
      where.or([
        where("r.name", "=", where.ref("d.name")),
        where("r.name", "like", where.fn("concat", [where.val("%."), "d.name"])),
      ]),
    )
    .orderBy("r.name")
    .orderBy("r.type")
    .execute();
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

/** Makes the record set of that name and type this one; null: there is none then. */
export async function setDnsRecordSet(
  transaction: DatabaseTransaction,
  zoneId: string,
  { name, type }: Key,
  set: DnsRecordSetRow | null,
): Promise<void> {
  if (set === null) {
    const own = transaction.deleteFrom("dns_records").where("zone_id", "=", zoneId);
    await own.where("name", "=", name).where("type", "=", type).execute();
    return;
  }
  const content = { ttl: set.ttl, resource_records: [...set.values] };
  await transaction
    .insertInto("dns_records")
    .values({ zone_id: zoneId, name, type, ...content })
    .onConflict((conflict) => conflict.columns(["zone_id", "name", "type"]).doUpdateSet(content))
    .execute();
}
