/**
 * A domain's zone as a whole: what it was, going back to that, and as a file. A key that may see the domain sees of its zone, and
 * changes, what lies within the domain.
 */
import { writeZoneFile } from "@sitewright/dns/zoneFile.ts";
import { servedZone } from "@sitewright/server/domains/servedZone.ts";
import type { RecordSetChange } from "@sitewright/server/operations/domains/changeDnsRecord.ts";
import type { Database, DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { type DnsRecordSetRow, listDnsRecordsOfDomain } from "@sitewright/server/store/domains/dnsRecords.ts";
import { findZoneOfDomain } from "@sitewright/server/store/domains/zones.ts";
import { findZoneVersion, listZoneVersions, type ZoneVersion } from "@sitewright/server/store/domains/zoneVersions.ts";
import type { Context } from "../context.ts";
import { NotFound } from "../failures.ts";
import { shownSet, typeOf } from "./dnsRecords.ts";
import { changeZone, noZone } from "./zoneChanges.ts";
import { isSameValue, keyOf } from "./zoneChecks.ts";
import { readZoneText } from "./zoneText.ts";

/** The newest first. */
export async function listVersions(context: Context, domainId: string) {
  const versions = await listZoneVersions(context.database, domainId);
  return versions.map(({ serial, createdAt, records }) => ({
    serial,
    created_at: createdAt.getTime(),
    record_sets_count: records.length,
  }));
}

export async function version(context: Context, domainId: string, serial: number) {
  const { createdAt, records } = await requireVersion(context.database, domainId, serial);
  return { serial, created_at: createdAt.getTime(), dns_records: records.map(shownSet) };
}

async function requireVersion(
  database: Database | DatabaseTransaction,
  domainId: string,
  serial: number,
): Promise<ZoneVersion> {
  const found = await findZoneVersion(database, domainId, serial);
  if (found === null) throw new NotFound();
  return found;
}

/** What is to be done to the records of one version to have those of another; absent: those of now. */
export async function compare(context: Context, domainId: string, from: number, to: number | undefined) {
  const before = (await requireVersion(context.database, domainId, from)).records;
  const after =
    to === undefined
      ? await listDnsRecordsOfDomain(context.database, domainId)
      : (await requireVersion(context.database, domainId, to)).records;
  return changesBetween(before, after).map(({ place, ...sets }) => ({
    name: place.name,
    type: typeOf(place.type),
    before: sets.before && shownSet(sets.before),
    after: sets.after && shownSet(sets.after),
  }));
}

function changesBetween(
  before: readonly DnsRecordSetRow[],
  after: readonly DnsRecordSetRow[],
): readonly RecordSetChange[] {
  const old = new Map(before.map((set) => [keyOf(set), set]));
  const young = new Map(after.map((set) => [keyOf(set), set]));
  const places = new Map([...before, ...after].map((set) => [keyOf(set), { name: set.name, type: set.type }]));
  return [...places]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, place]) => ({ place, before: old.get(key) ?? null, after: young.get(key) ?? null }))
    .filter(({ before: one, after: other }) => !isSameSet(one, other));
}

/** However their values are written, and in whatever order. */
function isSameSet(one: DnsRecordSetRow | null, other: DnsRecordSetRow | null): boolean {
  if (one === null || other === null) return one === other;
  const isIn = (values: readonly string[]) => (value: string) =>
    values.some((each) => isSameValue(one.type, each, value));
  return one.ttl === other.ttl && one.values.every(isIn(other.values)) && other.values.every(isIn(one.values));
}

/** Starts going back; gives the operation's id, as importing does. */
export function restore(
  context: Context,
  domainId: string,
  serial: number,
  confirm: boolean | undefined,
): Promise<string> {
  return changeZone(context, { kind: "restoreZoneVersion", domainId, confirm }, async (_zone, transaction) => {
    const { records } = await requireVersion(transaction, domainId, serial);
    const present = await listDnsRecordsOfDomain(transaction, domainId);
    return {
      changes: changesBetween(present, records),
      activityParameters: { zoneSerial: String(serial) },
    };
  });
}

/** The domain as a zone of its own, as other DNS servers read it. */
export async function exportFile(context: Context, domainId: string): Promise<string> {
  const zone = await findZoneOfDomain(context.database, domainId);
  if (zone === null) throw noZone(domainId);
  const records = await listDnsRecordsOfDomain(context.database, domainId);
  const isOwnServers = ({ name, type }: DnsRecordSetRow) => name === zone.domainName && type === "NS";
  const served = servedZone(
    { name: zone.domainName, serial: zone.serial },
    records.filter((set) => !isOwnServers(set)),
    context.settings,
  );
  // A part of a zone may be other servers'.
  const others = records.find(isOwnServers);
  return writeZoneFile(
    others === undefined ? served : { ...served, nameServers: { ttl: others.ttl, names: others.values } },
  );
}

export function importFile(
  context: Context,
  domainId: string,
  wish: { readonly zone_file: string; readonly replace?: boolean; readonly confirm?: boolean },
): Promise<string> {
  const { confirm, replace } = wish;
  return changeZone(context, { kind: "importZoneFile", domainId, confirm }, async (zone, transaction) => {
    const read = readZoneText(wish.zone_file, zone, context.settings.dnsNames);
    const present = await listDnsRecordsOfDomain(transaction, domainId);
    const named = new Set(read.map(keyOf));
    const kept = replace ? [] : present.filter((set) => !named.has(keyOf(set)));
    return { changes: changesBetween(present, [...kept, ...read]), activityParameters: {} };
  });
}
