/** DNS zones, their owners and their domains. Records are in `dnsRecords.ts`. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";
import type { DnsRecordSetRow } from "./dnsRecords.ts";
import { isUnproven } from "./domains.ts";
import { keepZoneVersion } from "./zoneVersions.ts";

/** A customer's domain without a zone. */
interface DomainWithoutZone {
  readonly id: string;
  readonly companyId: string;
  readonly name: string;
  readonly isWildcard: boolean;
}

export async function listDomainsWithoutZone(database: Database, limit: number): Promise<readonly DomainWithoutZone[]> {
  return database
    .selectFrom("domains")
    .select(["id", "company_id as companyId", "name", "is_wildcard as isWildcard"])
    .where("zone_id", "is", null)
    .where("setup_type", "<>", "temporary")
    .orderBy("id")
    .limit(limit)
    .execute();
}

/** Returns the id of a zone, creating it if needed. `companyId` is null for the installation's own zone. */
export async function ensureZone(
  database: Database | DatabaseTransaction,
  companyId: string | null,
  name: string,
): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    insert into zones (company_id, name) values (${companyId}, ${name})
    on conflict (company_id, name) do update set name = excluded.name returning id`.execute(database);
  const id = rows[0]?.id;
  if (id === undefined) throw new Error("PostgreSQL returned no zone");
  return id;
}

/** Puts a domain into its zone. Adds `records` for names that have none. Idempotent. */
export async function putIntoZone(
  transaction: DatabaseTransaction,
  domain: Pick<DomainWithoutZone, "id" | "companyId">,
  zoneName: string,
  records: readonly DnsRecordSetRow[],
): Promise<void> {
  const zoneId = await ensureZone(transaction, domain.companyId, zoneName);
  await transaction.updateTable("domains").set({ zone_id: zoneId }).where("id", "=", domain.id).execute();
  const existing = await transaction.selectFrom("dns_records").select("name").where("zone_id", "=", zoneId).execute();
  const taken = new Set(existing.map(({ name }) => name));
  const added = records.filter(({ name }) => !taken.has(name));
  if (added.length > 0) {
    const rows = added.map(({ name, type, ttl, values }) => ({ name, type, ttl, resource_records: [...values] }));
    await transaction
      .insertInto("dns_records")
      .values(rows.map((row) => ({ zone_id: zoneId, ...row })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  await raiseSerial(transaction, zoneId);
}

/** Removes zones without domains and returns their number. */
export async function removeEmptyZones(database: Database | DatabaseTransaction): Promise<number> {
  const { rows } = await sql`
    delete from zones z where company_id is not null and not exists (select from domains d where d.zone_id = z.id)
    returning id`.execute(database);
  return rows.length;
}

export interface ZoneOfDomain {
  readonly domainName: string;
  readonly siteId: string;
  readonly environmentId: string;
  readonly zoneId: string;
  readonly zoneName: string;
}

/** Returns null if there is no such domain, or if it has no zone. */
export async function findZoneOfDomain(
  database: Database,
  domainId: string,
): Promise<{ readonly domainName: string; readonly serial: number } | null> {
  const found = await database
    .selectFrom("domains")
    .innerJoin("zones", "zones.id", "domains.zone_id")
    .select(["domains.name as domainName", "zones.serial as serial"])
    .where("domains.id", "=", domainId)
    .executeTakeFirst();
  return found ?? null;
}

/** Returns null if there is no such domain, or if it has no zone. Locks the zone until the transaction ends. */
export async function lockZoneOfDomain(
  transaction: DatabaseTransaction,
  domainId: string,
): Promise<ZoneOfDomain | null> {
  const { rows } = await sql<ZoneOfDomain>`
    select d.name as "domainName", d.site_id as "siteId", d.environment_id as "environmentId", z.id as "zoneId",
      z.name as "zoneName"
    from domains d join zones z on z.id = d.zone_id where d.id = ${domainId} for update of z`.execute(transaction);
  return rows[0] ?? null;
}

/** Locks the zone until the transaction ends. Returns false if it is gone. */
export async function lockZone(transaction: DatabaseTransaction, zoneId: string): Promise<boolean> {
  const zone = transaction.selectFrom("zones").select("id").where("id", "=", zoneId).forUpdate();
  return (await zone.executeTakeFirst()) !== undefined;
}

/**
 * Call after a change of records. Stores the zone as a version under a new serial, and returns it. Throws if the zone
 * is gone.
 */
export async function raiseSerial(transaction: DatabaseTransaction, zoneId: string): Promise<number> {
  const { rows } = await sql<{ serial: number }>`
    update zones set serial = greatest(serial + 1, extract(epoch from now())::bigint) where id = ${zoneId}
    returning serial`.execute(transaction);
  const serial = rows[0]?.serial;
  if (serial === undefined) throw new Error(`There is no zone ${zoneId}`);
  await keepZoneVersion(transaction, zoneId, serial);
  return serial;
}

/** Raises the serial of every zone that contains the name. */
export async function raiseSerialsAbove(transaction: DatabaseTransaction, name: string): Promise<void> {
  await sql`
    update zones set serial = greatest(serial + 1, extract(epoch from now())::bigint)
    where name = ${name} or ${name} like '%.' || name`.execute(transaction);
}

export interface StoredZone {
  readonly name: string;
  /** Null for the installation's own zone. */
  readonly companyId: string | null;
  readonly serial: number;
  readonly records: readonly DnsRecordSetRow[];
}

/** Lists all zones with their records. Companies may have zones with the same name. */
export async function listZones(database: Database): Promise<readonly StoredZone[]> {
  const { rows } = await sql<StoredZone>`
    select z.name, z.company_id as "companyId", z.serial, coalesce(
      jsonb_agg(jsonb_build_object('name', r.name, 'type', r.type, 'ttl', r.ttl, 'values', to_jsonb(r.resource_records))
        order by r.name, r.type) filter (where r.name is not null), '[]') as records
    from zones z left join dns_records r on r.zone_id = z.id group by z.id order by z.name, z.created_at, z.id
  `.execute(database);
  return rows;
}

export interface DomainInZone {
  readonly zoneName: string;
  readonly name: string;
  readonly companyId: string;
  readonly isProven: boolean;
  /** Whether it is not served, because its company must prove ownership first. */
  readonly isUnproven: boolean;
  /** Whether the zone is delegated to this installation. */
  readonly usesOwnDns: boolean;
  /** Whether another company had a name in the zone. Only of unproven domains. */
  readonly hadOthers: boolean;
}

/** SQL expression: whether the held name `h` is below the zone `z`. Unlike `like` with a column, it can use the index. */
const isHeldBelow = sql`
  reverse(h.name) ~>=~ reverse('.' || z.name) and reverse(h.name) ~<~ (reverse('.' || z.name) || '~')`;

/** Lists the domains in all zones, or in all zones with one name. */
export async function listDomainsInZones(
  database: Database | DatabaseTransaction,
  zoneName: string | null,
): Promise<readonly DomainInZone[]> {
  const { rows } = await sql<DomainInZone>`
    select z.name as "zoneName", d.name, d.company_id as "companyId", d.verified_at is not null as "isProven",
      ${isUnproven} as "isUnproven", d.uses_own_dns as "usesOwnDns", ${isUnproven} and exists (
        select from held_names h where h.company_id <> d.company_id and (h.name = z.name or ${isHeldBelow})) as "hadOthers"
    from zones z join domains d on d.zone_id = z.id
    where ${zoneName}::text is null or z.name = ${zoneName} order by d.name`.execute(database);
  return rows;
}
