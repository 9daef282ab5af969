/** DNS records of domains: the list, and how changes start. `zoneChecks.ts` checks that they can be served. */
import { dnsRecordTypes } from "@sitewright/contract/domains/dnsRecords.ts";
import {
  type DnsRecordSetRow,
  findDnsRecordSet,
  listDnsRecordsOfDomain,
} from "@sitewright/server/store/domains/dnsRecords.ts";
import type { Context } from "../context.ts";
import { Refused } from "../failures.ts";
import { changeZone } from "./zoneChanges.ts";
import { isSameValue, readRecordName } from "./zoneChecks.ts";

type RecordType = (typeof dnsRecordTypes)[number];
type ResourceRecords = readonly { readonly value: string }[];

interface RecordSetKey {
  readonly type: RecordType;
  readonly name: string;
}

interface NewSet extends RecordSetKey {
  readonly ttl: number;
  readonly resource_records: ResourceRecords;
}

interface Update extends RecordSetKey {
  readonly ttl?: number;
  readonly new_resource_records?: ResourceRecords;
  readonly removed_resource_records?: ResourceRecords;
  readonly confirm?: boolean;
}

export async function list(context: Context, domainId: string) {
  const rows = await listDnsRecordsOfDomain(context.database, domainId);
  return rows.map(recordSetView);
}

export function recordSetView({ name, type, ttl, values }: DnsRecordSetRow) {
  return { name, type: typeOf(type), ttl, resource_records: values.map((value) => ({ value })) };
}

export function typeOf(text: string): RecordType {
  const type = dnsRecordTypes.find((each) => each === text);
  if (type === undefined) throw new Error(`Unknown record type ${text}`);
  return type;
}

/** Returns the operation's id. */
export function create(context: Context, domainId: string, request: NewSet): Promise<string> {
  return change(context, "createDnsRecord", domainId, request, (key, before) => {
    if (before !== null) {
      const message = `"${key.name}" already has ${key.type} records. Change them with PUT /domains/{domain_id}/dns-records.`;
      throw new Refused("dns_record_exists", message, { name: key.name, type: key.type });
    }
    return { ...key, ttl: request.ttl, values: request.resource_records.map(({ value }) => value) };
  });
}

/** Returns the operation's id. */
export function update(context: Context, domainId: string, request: Update): Promise<string> {
  return change(context, "updateDnsRecord", domainId, request, (key, before) => {
    if (before === null) throw missing(key);
    const added = (request.new_resource_records ?? []).map(({ value }) => value);
    const removed = (request.removed_resource_records ?? []).map(({ value }) => value);
    const same = (one: string) => (other: string) => isSameValue(key.type, one, other);
    const unknown = removed.filter((value) => !before.values.some(same(value)));
    if (unknown.length > 0) {
      const message = `"${key.name}" has no ${key.type} record ${JSON.stringify(unknown[0])}.`;
      throw new Refused("dns_record_missing", message, { values: unknown });
    }
    const kept = before.values.filter((value) => ![...removed, ...added].some(same(value)));
    const values = [...kept, ...added];
    if (values.length === 0) {
      const message = `This would remove all ${key.type} records of "${key.name}". Delete the record set instead.`;
      throw new Refused("dns_record_empty", message, { name: key.name, type: key.type });
    }
    return { ...key, ttl: request.ttl ?? before.ttl, values };
  });
}

/** Returns the operation's id. */
export function remove(
  context: Context,
  domainId: string,
  request: RecordSetKey & { readonly confirm?: boolean },
): Promise<string> {
  return change(context, "deleteDnsRecord", domainId, request, (key, before) => {
    if (before === null) throw missing(key);
    return null;
  });
}

function missing({ name, type }: RecordSetKey): Refused {
  return new Refused("dns_record_missing", `"${name}" has no ${type} records.`, { name, type });
}

type Decide = (key: RecordSetKey, before: DnsRecordSetRow | null) => DnsRecordSetRow | null;

function change(
  context: Context,
  kind: "createDnsRecord" | "updateDnsRecord" | "deleteDnsRecord",
  domainId: string,
  request: RecordSetKey & { readonly confirm?: boolean },
  decide: Decide,
): Promise<string> {
  return changeZone(context, { kind, domainId, confirm: request.confirm }, async (zone, transaction) => {
    const key = { name: readRecordName(request.name, zone.domainName), type: request.type };
    const before = await findDnsRecordSet(transaction, zone.zoneId, key);
    return {
      changes: [{ place: key, before, after: decide(key, before) }],
      activityParameters: { recordName: key.name, recordType: key.type },
    };
  });
}
