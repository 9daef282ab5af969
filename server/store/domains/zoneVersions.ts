/** What zones were: a row for each change of their records, whole. Shown of it is what lies within a domain. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";
import type { DnsRecordSetRow } from "./dnsRecords.ts";

/** Of one zone. The oldest go. */
const mostVersions = 100;

/** Keeps the zone's records as they are in this transaction, where they are others than in the version before. */
export async function keepZoneVersion(transaction: DatabaseTransaction, zoneId: string, serial: number): Promise<void> {
  await sql`
    with present as (
      select coalesce(jsonb_agg(jsonb_build_object('name', name, 'type', type, 'ttl', ttl, 'values',
        to_jsonb(resource_records)) order by name, type), '[]') as records
      from dns_records where zone_id = ${zoneId}
    ), before as (
      select records from zone_versions where zone_id = ${zoneId} order by serial desc limit 1
    )
    insert into zone_versions (zone_id, serial, records) select ${zoneId}, ${serial}, p.records
    from present p where p.records is distinct from (select records from before)`.execute(transaction);
  await sql`
    delete from zone_versions where zone_id = ${zoneId} and serial <= (
      select serial from zone_versions where zone_id = ${zoneId} order by serial desc offset ${mostVersions} limit 1
    )`.execute(transaction);
}

export interface ZoneVersion {
  readonly serial: number;
  readonly createdAt: Date;
  /** Within the domain, by name and type. */
  readonly records: readonly DnsRecordSetRow[];
}

const within = sql`coalesce((
  select jsonb_agg(r order by at) from jsonb_array_elements(v.records) with ordinality as each (r, at)
  where r->>'name' = d.name or right(r->>'name', length(d.name) + 1) = '.' || d.name), '[]') as records`;

/** The newest first; none if the domain is in no zone. */
export async function listZoneVersions(database: Database, domainId: string): Promise<readonly ZoneVersion[]> {
  const { rows } = await sql<ZoneVersion>`
    select v.serial, v.created_at as "createdAt", ${within}
    from domains d join zone_versions v on v.zone_id = d.zone_id
    where d.id = ${domainId} order by v.serial desc`.execute(database);
  return rows;
}

/** Null if the zone has no such version any more. */
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
