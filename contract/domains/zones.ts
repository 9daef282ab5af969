/** Whole DNS zones: earlier versions, export and import. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { noNul, nullable, pattern, uuid } from "../schema.ts";
import { confirm, DnsRecordSet, dnsRecordTypes } from "./dnsRecords.ts";

const tag = "DNS";
const resource = { kind: "domain", from: "params.domain_id" } as const;
const byDomain = Type.Object({ domain_id: uuid("Id of the domain.") });
const serialText = Type.String({
  pattern: pattern("^[1-9][0-9]{0,9}$", "must be the serial number of a version"),
  description: "Serial number of the version.",
  examples: ["1795190400"],
});
const bySerial = Type.Object({ domain_id: uuid("Id of the domain."), serial: serialText });
const serial = Type.Integer({
  minimum: 1,
  maximum: 4_294_967_295,
  description: "Serial number of the zone after the change. It only increases.",
  examples: [1_795_190_400],
});
const createdAt = Type.Number({
  description: "When the change was made. Milliseconds since 1970.",
  examples: [1795190400000],
});
const ZoneVersion = Type.Object(
  {
    serial,
    created_at: createdAt,
    record_sets_count: Type.Integer({
      description: "Number of record sets of the domain and its subdomains.",
      examples: [6],
    }),
  },
  { title: "ZoneVersion" },
);

export const listZoneVersions = endpoint({
  method: "GET",
  path: "/domains/{domain_id}/zone-versions",
  tag,
  summary: "List earlier versions of a DNS zone",
  description: "Lists one version for each change, newest first. The last 100 versions are kept.",
  params: byDomain,
  responses: {
    200: result(["domain", "zone_versions"], "The versions.", Type.Array(ZoneVersion)),
  },
  verb: "read",
  resource,
});

export const getZoneVersion = endpoint({
  method: "GET",
  path: "/domains/{domain_id}/zone-versions/{serial}",
  tag,
  summary: "Get a version of a DNS zone",
  description: "Returns the record sets of the domain and its subdomains in that version.",
  params: bySerial,
  responses: {
    200: result(
      ["zone_version"],
      "The version.",
      Type.Object({
        serial,
        created_at: createdAt,
        dns_records: Type.Array(DnsRecordSet),
      }),
    ),
  },
  verb: "read",
  resource,
});

const RecordSetDifference = Type.Object(
  {
    name: Type.String({ description: "Name of the record set.", examples: ["www.example.com"] }),
    type: Type.Enum(dnsRecordTypes, { description: "Type of the record set." }),
    before: nullable(DnsRecordSet),
    after: nullable(DnsRecordSet),
  },
  { title: "RecordSetDifference" },
);

export const compareZoneVersions = endpoint({
  method: "GET",
  path: "/domains/{domain_id}/zone-versions/{serial}/difference",
  tag,
  summary: "Compare two versions of a DNS zone",
  description: "Lists the record sets that differ between the version and another one, or the current records.",
  params: bySerial,
  query: Type.Object({
    to: Type.Optional(
      Type.String({
        pattern: pattern("^[1-9][0-9]{0,9}$", "must be the serial number of a version"),
        description: "Serial number of the other version. Default: the current records.",
        examples: ["1795190500"],
      }),
    ),
  }),
  responses: {
    200: result(
      ["difference"],
      "The differences by name and type. `before` is null for added record sets, `after` is null for removed ones.",
      Type.Array(RecordSetDifference),
    ),
  },
  verb: "read",
  resource,
});

export const restoreZoneVersion = endpoint({
  method: "POST",
  path: "/domains/{domain_id}/zone-versions/{serial}/restore",
  tag,
  summary: "Restore a version of a DNS zone",
  description:
    "Replaces the zone's record sets with those of that version. This creates a new version, so it can be reverted too. The operation ends when the DNS server serves the records.",
  params: bySerial,
  body: Type.Object({ confirm }, { title: "ZoneRestore", examples: [{ confirm: false }] }),
  responses: { 202: { description: "The version is being restored.", body: Accepted } },
  refusals: ["no_zone", "zone_of_another", "dns_record_unservable", "zone_full", "confirm_needed"],
  verb: "write",
  resource,
  changesLive: true,
  operation: "restoreZoneVersion",
});

const zoneFileExample = "www\t3600\tIN\tA\t203.0.113.7\n";

const zoneFile = Type.String({
  maxLength: 1_000_000,
  pattern: noNul,
  description:
    "The zone file, in the format of RFC 1035, with `$TTL`, `$ORIGIN` and `$GENERATE`. Names without a final dot are relative to the domain, unless they end with its name or, in values, with a public suffix such as `.com` and the zone has no such name.",
  examples: [zoneFileExample],
});

export const exportZoneFile = endpoint({
  method: "GET",
  path: "/domains/{domain_id}/zone-file",
  tag,
  summary: "Export a DNS zone as a zone file",
  description: "Returns the domain and its subdomains, including SOA and NS records, for use with other DNS servers.",
  params: byDomain,
  responses: {
    200: result(
      ["domain", "zone_file"],
      "The zone file.",
      Type.String({ description: "Text of the zone file.", examples: [zoneFileExample] }),
    ),
  },
  refusals: ["no_zone"],
  verb: "read",
  resource,
});

export const importZoneFile = endpoint({
  method: "POST",
  path: "/domains/{domain_id}/zone-file",
  tag,
  summary: "Import a zone file",
  description:
    "The record sets in the file replace those with the same name and type; a CNAME replaces all records of its name, and is replaced by them. Lines that can't be used are skipped and listed in the operation's result: SOA records, NS records of the domain itself and other lines that would give a domain to other name servers, unsupported types, and names outside the domain. A mistake in any other line refuses the whole file. TTLs below 300 become 300. The operation ends when the DNS server serves the records.",
  params: byDomain,
  body: Type.Object(
    {
      zone_file: zoneFile,
      replace: Type.Optional(Type.Boolean({ default: false, description: "Also delete all other record sets." })),
      confirm,
    },
    { title: "ZoneFileImport" },
  ),
  responses: { 202: { description: "The zone file is being imported.", body: Accepted } },
  refusals: [
    "no_zone",
    "zone_of_another",
    "zone_file_unreadable",
    "outside_the_domain",
    "dns_record_unservable",
    "zone_full",
    "confirm_needed",
  ],
  verb: "write",
  resource,
  changesLive: true,
  operation: "importZoneFile",
});
