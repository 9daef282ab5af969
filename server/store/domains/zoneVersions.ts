/** Earlier versions of zones: all records, for each change. Reads return only records within a domain. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";
import type { DnsRecordSetRow } from "./dnsRecords.ts";

/** Maximum number per zone; the oldest are deleted. */
const maxVersions = 100;

/** Stores the zone's current records as a version, if they differ from the previous one. */
export async function keepZoneVersion(transaction: DatabaseTransaction, zoneId: string, serial: number): Promise<void> {
  await sql`
    with current_version as (
      select coalesce(jsonb_agg(jsonb_build_object('name', name, 'type', type, 'ttl', ttl, 'values',
        to_jsonb(resource_records)) order by name, type), '[]') as records
      from dns_records where zone_id = ${zoneId}
    ), previous_version as (
      select records from zone_versions where zone_id = ${zoneId} order by serial desc limit 1
    )
    insert into zone_versions (zone_id, serial, records) select ${zoneId}, ${serial}, p.records
    from current_version p where p.records is distinct from (select records from previous_version)`.execute(
    transaction,
  );
  await sql`
    delete from zone_versions where zone_id = ${zoneId} and serial <= (
      select serial from zone_versions where zone_id = ${zoneId} order by serial desc offset ${maxVersions} limit 1
    )`.execute(transaction);
}

export interface ZoneVersion {
  readonly serial: number;
  readonly createdAt: Date;
  /** Records within the domain, by name and type. */
  readonly records: readonly DnsRecordSetRow[];
}

const within = sql`coalesce((
  select jsonb_agg(r order by at) from jsonb_array_elements(v.records) with ordinality as each (r, at)
  where r->>'name' = d.name or right(r->>'name', length(d.name) + 1) = '.' || d.name), '[]') as records`;

/** Lists versions, newest first; empty if the domain has no zone. */
export async function listZoneVersions(database: Database, domainId: string): Promise<readonly ZoneVersion[]> {
  const { rows } = await sql<ZoneVersion>`
    select v.serial, v.created_at as "createdAt", ${within}
    from domains d join zone_versions v on v.zone_id = d.zone_id
    where d.id = ${domainId} order by v.serial desc`.execute(database);
  return rows;
}

/** Returns null if the zone has no such version, or no longer has it. */
export async function findZoneVersion(
  database: Database | DatabaseTransaction,
  domainId: string,
  serial: number,
): Promise<ZoneVersion | null> {
  const { rows } = await sql<ZoneVersion>`
    select v.serial, v.created_at as "createdAt", ${within}
    from domains d join zone_versions v on v.zone_id = d.zone_id
    where d.id = ${domainId} and v.serial = ${serial}`.execute(database);
  return rows[0] ?? null;
}
