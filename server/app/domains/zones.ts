/**
 * The zone of a domain: earlier versions, restoring one, and zone files. Callers see and change only the records within the
 * domain.
 */
import type { SkippedEntry } from "@sitewright/dns/zoneFiles/readZoneFile.ts";
import { writeZoneFile } from "@sitewright/dns/zoneFiles/writeZoneFile.ts";
import { servedZone } from "@sitewright/server/domains/servedZone.ts";
import type { RecordSetChange } from "@sitewright/server/operations/domains/changeDnsRecord.ts";
import type { Database, DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { type DnsRecordSetRow, listDnsRecordsOfDomain } from "@sitewright/server/store/domains/dnsRecords.ts";
import { findZoneOfDomain } from "@sitewright/server/store/domains/zones.ts";
import { findZoneVersion, listZoneVersions, type ZoneVersion } from "@sitewright/server/store/domains/zoneVersions.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { recordSetView, typeOf } from "./dnsRecords.ts";
import { changeZone, noZone } from "./zoneChanges.ts";
import { canonicalValues, keyOf } from "./zoneChecks.ts";
import { readZoneText } from "./zoneText.ts";

/** Skipped lines in the result of an import, and characters of each. */
const maxListedLines = 1_000;
const maxListedText = 100;

/** Lists the versions, the newest first. */
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
  return { serial, created_at: createdAt.getTime(), dns_records: records.map(recordSetView) };
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

/** The changes from version `from` to version `to`, or to the current records if `to` is omitted. */
export async function compare(context: Context, domainId: string, from: number, to: number | undefined) {
  const before = (await requireVersion(context.database, domainId, from)).records;
  const after =
    to === undefined
      ? await listDnsRecordsOfDomain(context.database, domainId)
      : (await requireVersion(context.database, domainId, to)).records;
  return changesBetween(before, after).map(({ place, ...sets }) => ({
    name: place.name,
    type: typeOf(place.type),
    before: sets.before && recordSetView(sets.before),
    after: sets.after && recordSetView(sets.after),
  }));
}

function changesBetween(
  before: readonly DnsRecordSetRow[],
  after: readonly DnsRecordSetRow[],
): readonly RecordSetChange[] {
  const oldSets = new Map(before.map((set) => [keyOf(set), set]));
  const newSets = new Map(after.map((set) => [keyOf(set), set]));
  const places = new Map([...before, ...after].map((set) => [keyOf(set), { name: set.name, type: set.type }]));
  return [...places]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, place]) => ({ place, before: oldSets.get(key) ?? null, after: newSets.get(key) ?? null }))
    .filter(({ before: one, after: other }) => !isSameSet(one, other));
}

/** Ignores how the values are written, and their order. */
function isSameSet(one: DnsRecordSetRow | null, other: DnsRecordSetRow | null): boolean {
  if (one === null || other === null) return one === other;
  const [values, others] = [canonicalValues(one), canonicalValues(other)];
  return one.ttl === other.ttl && values.size === others.size && [...values].every((value) => others.has(value));
}

/** Starts the restore of a version. Returns the operation's id. */
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

/** Returns the domain as a zone file that other DNS servers can read. */
export async function exportFile(context: Context, domainId: string): Promise<string> {
  const zone = await findZoneOfDomain(context.database, domainId);
  if (zone === null) throw noZone(domainId);
  const records = await listDnsRecordsOfDomain(context.database, domainId);
  const isDelegation = ({ name, type }: DnsRecordSetRow) => name === zone.domainName && type === "NS";
  const served = servedZone(
    { name: zone.domainName, serial: zone.serial },
    records.filter((set) => !isDelegation(set)),
    context.settings,
  );
  // The domain may be delegated to other servers.
  const delegation = records.find(isDelegation);
  return writeZoneFile(
    delegation === undefined ? served : { ...served, nameServers: { ttl: delegation.ttl, names: delegation.values } },
  );
}

/** Starts the import of a zone file. Returns the operation's id. */
export function importFile(
  context: Context,
  domainId: string,
  request: { readonly zone_file: string; readonly replace?: boolean; readonly confirm?: boolean },
): Promise<string> {
  const { confirm, replace } = request;
  return changeZone(context, { kind: "importZoneFile", domainId, confirm }, async (zone, transaction) => {
    const present = await listDnsRecordsOfDomain(transaction, domainId);
    const names = present.map(({ name }) => name);
    const { sets, skipped, isSkipped } = readZoneText(request.zone_file, { ...zone, names });
    if (replace && sets.length === 0) refuseEmpty(skipped);
    const isReplaced = replacedBy(sets);
    const kept = present.filter((set) => (replace ? isSkipped(set) : true) && !isReplaced(set));
    return {
      changes: changesBetween(present, [...kept, ...sets]),
      activityParameters: {},
      skipped: { count: skipped.length, listed: skipped.slice(0, maxListedLines).map(skippedLine) },
    };
  });
}

/** A name with a CNAME has no other records, so either replaces the other, such as the wildcard of a new domain. */
function replacedBy(sets: readonly DnsRecordSetRow[]): (set: DnsRecordSetRow) => boolean {
  const places = new Set(sets.map(keyOf));
  const [aliases, others] = [sets.filter(isAlias), sets.filter((set) => !isAlias(set))].map(
    (each) => new Set(each.map(({ name }) => name)),
  );
  return (set) => places.has(keyOf(set)) || (isAlias(set) ? others : aliases)?.has(set.name) === true;
}

function isAlias({ type }: DnsRecordSetRow): boolean {
  return type === "CNAME";
}

/** Throws `Refused` if lines were skipped: the file is probably not meant to delete everything. */
function refuseEmpty([first]: readonly SkippedEntry[]): void {
  if (first === undefined) return;
  const message = `No record in the file can be imported, so "replace" would only delete records. Line ${first.line}: ${first.reason}.`;
  throw new Refused("zone_file_unreadable", message, { line: first.line });
}

function skippedLine({ line, text, reason }: SkippedEntry) {
  return { line, text: shorten(text), reason: `${reason}.` };
}

function shorten(text: string): string {
  return text.length > maxListedText ? `${text.slice(0, maxListedText)}…` : text;
}
