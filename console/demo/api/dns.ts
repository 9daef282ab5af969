/** DNS records of the demo's domains, and earlier versions of their zones. */
import type { Calls } from "@sitewright/contract/endpoints.ts";
import { found, Refusal } from "../world/failures.ts";
import { domainOf } from "../world/find.ts";
import { start } from "../world/operations.ts";
import type { DemoZone, RecordSet, World } from "../world/world.ts";
import { publish, recordsOf } from "../world/zones.ts";

interface Target {
  readonly zone: DemoZone;
  readonly domain: string;
  readonly siteId: string;
}

function targetOf(world: World, domainId: string): Target {
  const { site, domain } = domainOf(world, domainId);
  const zone = world.zones.find((one) => one.domain === domain.name);
  if (zone !== undefined) return { zone, domain: domain.name, siteId: site.id };
  throw new Refusal("no_zone", `${domain.name} has no zone of its own: Sitewright provides its DNS.`, {
    domain_id: domainId,
  });
}

/** The full name, without the final dot. */
function nameIn(domain: string, given: string): string {
  const name = given === "@" ? domain : given.toLowerCase().replace(/\.$/, "");
  if (name === domain || name.endsWith(`.${domain}`)) return name;
  throw new Refusal("outside_the_domain", `The name must be ${domain}, or end with .${domain}.`, { field: "name" });
}

const isOf = (type: string, name: string) => (one: RecordSet) => one.type === type && one.name === name;

function requireServable({ type, name, values }: { type: string; name: string; values: readonly string[] }): void {
  const isAddress = (value: string) =>
    type === "A" ? /^(\d{1,3}\.){3}\d{1,3}$/.test(value) : /^[\da-f:.]*:[\da-f:.]*$/i.test(value);
  const wrong = ["A", "AAAA"].includes(type) ? values.find((value) => !isAddress(value)) : undefined;
  if (wrong === undefined) return;
  const message = `“${wrong}” is no IPv${type === "A" ? "4" : "6"} address.`;
  throw new Refusal("dns_record_unservable", message, { name, type, field: "resource_records" });
}

const viewOf = ({ name, type, ttl, resource_records: records }: RecordSet) => ({
  record: { name, type, ttl, values: records.map(({ value }) => value) },
});

function missing(type: string, name: string, values?: readonly string[]): Refusal {
  return new Refusal("dns_record_missing", `${name} has no such records of type ${type}.`, {
    name,
    type,
    ...(values && { values }),
  });
}

/** The records of this name and type after the change. */
function changedSet(before: RecordSet, body: Parameters<Calls<World>["updateDnsRecord"]>[1]["body"]): RecordSet {
  const removed = (body.removed_resource_records ?? []).map(({ value }) => value);
  const known = before.resource_records.map(({ value }) => value);
  const unknown = removed.filter((value) => !known.includes(value));
  if (unknown.length > 0) throw missing(before.type, before.name, unknown);
  const kept = before.resource_records.filter(({ value }) => !removed.includes(value));
  const added = (body.new_resource_records ?? []).filter(({ value }) => !known.includes(value));
  const records = [...kept, ...added].map(({ value }) => ({ value }));
  if (records.length === 0) {
    const details = { name: before.name, type: before.type };
    throw new Refusal("dns_record_empty", "Nothing would be left. Delete the record set instead.", details);
  }
  return { ...before, ttl: body.ttl ?? before.ttl, resource_records: records };
}

const keyOf = ({ name, type }: RecordSet): string => `${name} ${type}`;

function differences(before: readonly RecordSet[], after: readonly RecordSet[]) {
  const keys = [...new Set([...before, ...after].map(keyOf))].sort();
  return keys.flatMap((key) => {
    const [old = null, now = null] = [before, after].map((sets) => sets.find((one) => keyOf(one) === key));
    const one = now ?? old;
    if (one === null || JSON.stringify(old) === JSON.stringify(now)) return [];
    return [{ name: one.name, type: one.type, before: old, after: now }];
  });
}

const versionOf = ({ versions }: DemoZone, wanted: string) =>
  found(versions.find(({ serial }) => serial === Number(wanted)));

const fileOf = (records: readonly RecordSet[]): string =>
  records
    .flatMap(({ name, type, ttl, resource_records: values }) =>
      values.map(({ value }) => `${name}.\t${ttl}\tIN\t${type}\t${value}\n`),
    )
    .join("");

/** Understands lines as `fileOf` writes them. */
function readFile(text: string, domain: string): RecordSet[] {
  const sets: RecordSet[] = [];
  for (const [index, written] of text.split("\n").entries()) {
    if (written.trim() === "" || /^\s*[;$]/.test(written)) continue;
    const [, given = "", ttl = "3600", type = "", value = ""] =
      /^(\S+)\s+(?:(\d+)\s+)?(?:IN\s+)?([A-Z]+)\s+(.+)$/.exec(written) ?? [];
    const known = recordTypes.find((one) => one === type);
    if (known === undefined) {
      throw new Refusal("zone_file_unreadable", `Line ${index + 1} is no record.`, { line: index + 1 });
    }
    const name = nameIn(domain, given);
    const present = sets.findIndex(isOf(known, name));
    const [old] = present === -1 ? [] : sets.splice(present, 1);
    const records = [...(old?.resource_records ?? []), { value: value.trim() }];
    sets.push({ type: known, name, ttl: Number(ttl), resource_records: records });
  }
  return sets;
}

const recordTypes = ["A", "AAAA", "CNAME", "MX", "TXT", "NS", "SRV", "CAA"] as const;

export const dnsCalls = {
  listDnsRecords: (world, { params }) => [...recordsOf(targetOf(world, params.domain_id).zone)],
  createDnsRecord: (world, { params, body }) => {
    const { zone, domain, siteId } = targetOf(world, params.domain_id);
    const made = { ...body, name: nameIn(domain, body.name) };
    requireServable({ ...made, values: body.resource_records.map(({ value }) => value) });
    const { type, name } = made;
    if (recordsOf(zone).some(isOf(type, name))) {
      throw new Refusal("dns_record_exists", `${name} already has records of type ${type}.`, { name, type });
    }
    const apply = () => {
      publish(world, zone, [...recordsOf(zone), made]);
      return viewOf(made);
    };
    return start(world, { kind: "createDnsRecord", siteId, text: `Add ${type} records of ${name}`, apply });
  },
  updateDnsRecord: (world, { params, body }) => {
    const { zone, domain, siteId } = targetOf(world, params.domain_id);
    const [type, name] = [body.type, nameIn(domain, body.name)];
    const before = recordsOf(zone).find(isOf(type, name));
    if (before === undefined) throw missing(type, name);
    const after = changedSet(before, body);
    requireServable({ type, name, values: after.resource_records.map(({ value }) => value) });
    const apply = () => {
      publish(
        world,
        zone,
        recordsOf(zone).map((one) => (isOf(type, name)(one) ? after : one)),
      );
      return viewOf(after);
    };
    return start(world, { kind: "updateDnsRecord", siteId, text: `Change ${type} records of ${name}`, apply });
  },
  deleteDnsRecord: (world, { params, body }) => {
    const { zone, domain, siteId } = targetOf(world, params.domain_id);
    const [type, name] = [body.type, nameIn(domain, body.name)];
    if (!recordsOf(zone).some(isOf(type, name))) throw missing(type, name);
    if (name === domain && ["A", "MX"].includes(type) && body.confirm !== true) {
      const what = type === "A" ? "the website" : "mail";
      const message = `Without these records, ${what} of ${domain} can't be reached. Confirm the change if you want that.`;
      throw new Refusal("confirm_needed", message, { name, type });
    }
    const apply = () => {
      publish(
        world,
        zone,
        recordsOf(zone).filter((one) => !isOf(type, name)(one)),
      );
      return { record: null };
    };
    return start(world, { kind: "deleteDnsRecord", siteId, text: `Delete ${type} records of ${name}`, apply });
  },
  listZoneVersions: (world, { params }) =>
    targetOf(world, params.domain_id)
      .zone.versions.map(({ serial, createdAt, records }) => ({
        serial,
        created_at: createdAt,
        record_sets_count: records.length,
      }))
      .toReversed(),
  compareZoneVersions: (world, { params, query }) => {
    const { zone } = targetOf(world, params.domain_id);
    const after = query.to === undefined ? recordsOf(zone) : versionOf(zone, query.to).records;
    return differences(versionOf(zone, params.serial).records, after);
  },
  restoreZoneVersion: (world, { params }) => {
    const { zone, domain, siteId } = targetOf(world, params.domain_id);
    const { serial, records } = versionOf(zone, params.serial);
    const apply = () => {
      const changed = differences(recordsOf(zone), records).length;
      publish(world, zone, records);
      return { changed_record_sets: changed };
    };
    return start(world, { kind: "restoreZoneVersion", siteId, text: `Restore version ${serial} of ${domain}`, apply });
  },
  exportZoneFile: (world, { params }) => fileOf(recordsOf(targetOf(world, params.domain_id).zone)),
  importZoneFile: (world, { params, body }) => {
    const { zone, domain, siteId } = targetOf(world, params.domain_id);
    const read = readFile(body.zone_file, domain);
    const keys = new Set(read.map(keyOf));
    const apply = () => {
      const kept = body.replace === true ? [] : recordsOf(zone).filter((one) => !keys.has(keyOf(one)));
      const after = [...kept, ...read];
      const changed = differences(recordsOf(zone), after).length;
      publish(world, zone, after);
      return { changed_record_sets: changed, skipped_lines: [], skipped_lines_count: 0 };
    };
    return start(world, { kind: "importZoneFile", siteId, text: `Import a zone file of ${domain}`, apply });
  },
} satisfies Partial<Calls<World>>;
