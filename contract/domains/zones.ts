/** A domain's zone as a whole: its versions, and as a file. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { nullable, pattern, uuid } from "../schema.ts";
import { DnsRecordSet, dnsRecordTypes } from "./dnsRecords.ts";

const tag = "DNS";
const resource = { kind: "domain", from: "params.domain_id" } as const;
const byDomain = Type.Object({ domain_id: uuid("Id of the domain.") });
const serialText = Type.String({
  pattern: pattern("^[1-9][0-9]{0,9}$", "must be the serial of a version"),
  description: "Serial of a version.",
  examples: ["1795190400"],
});
const bySerial = Type.Object({ domain_id: uuid("Id of the domain."), serial: serialText });
const confirm = Type.Optional(
  Type.Boolean({
    default: false,
    description: "Required if the change removes all addresses or mail servers of the domain itself.",
  }),
);
const noNul = pattern("^[^\\u0000]*$", "must be without the character U+0000");
const serial = Type.Integer({
  minimum: 1,
  maximum: 4_294_967_295,
  description: "Serial of the zone after the change; it only rises.",
  examples: [1_795_190_400],
});
const createdAt = Type.Number({
  description: "When the change was made; milliseconds since 1970.",
  examples: [1795190400000],
});
const ZoneVersion = Type.Object(
  {
    serial,
    created_at: createdAt,
    record_sets_count: Type.Integer({ description: "Record sets of the domain and its subdomains.", examples: [6] }),
  },
  { title: "ZoneVersion" },
);

export const listZoneVersions = endpoint({
  method: "GET",
  path: "/domains/{domain_id}/zone-versions",
  tag,
  summary: "List earlier versions of a DNS zone",
  description: "One version for each change, newest first; the last 100 are kept.",
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
  description: "The record sets of the domain and its subdomains in that version.",
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
    name: Type.String({ examples: ["www.example.com"] }),
    type: Type.Enum(dnsRecordTypes),
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
  description: "The record sets that differ between the two versions.",
  params: bySerial,
  query: Type.Object({
    to: Type.Optional(
      Type.String({
        pattern: pattern("^[1-9][0-9]{0,9}$", "must be the serial of a version"),
        description: "Serial of the other version. Default: the current records.",
        examples: ["1795190500"],
      }),
    ),
  }),
  responses: {
    200: result(
      ["difference"],
      "The differences, by name and type. `before` is null for added record sets, `after` for removed ones.",
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
    "Restores exactly the record sets of that version, as a new version that can be reverted too. The operation ends when the DNS server serves the records.",
  params: bySerial,
  body: Type.Object({ confirm }, { title: "ZoneRestore" }),
  responses: { 202: { description: "The work has begun.", body: Accepted } },
  verb: "write",
  resource,
  changesLive: true,
  operation: "restoreZoneVersion",
});

const zoneFile = Type.String({
  maxLength: 1_000_000,
  pattern: noNul,
  description:
    "In the format of RFC 1035, with `$TTL` and `$ORIGIN`. Names without a final dot are relative to the domain.",
  examples: ["www\t3600\tIN\tA\t203.0.113.7\n"],
});

export const exportZoneFile = endpoint({
  method: "GET",
  path: "/domains/{domain_id}/zone-file",
  tag,
  summary: "Export a DNS zone as a zone file",
  description: "The domain and its subdomains, including SOA and NS records, for use with other DNS servers.",
  params: byDomain,
  responses: {
    200: result(["domain", "zone_file"], "The file.", Type.String({ description: "The text." })),
  },
  verb: "read",
  resource,
});

export const importZoneFile = endpoint({
  method: "POST",
  path: "/domains/{domain_id}/zone-file",
  tag,
  summary: "Import a zone file",
  description:
    "Its record sets replace those with the same name and type; all are imported or none. SOA records and NS records of the domain itself are ignored; TTLs below 300 become 300. The operation ends when the DNS server serves the records.",
  params: byDomain,
  body: Type.Object(
    {
      zone_file: zoneFile,
      replace: Type.Optional(Type.Boolean({ default: false, description: "Whether to delete all other record sets." })),
      confirm,
    },
    { title: "ZoneFileImport" },
  ),
  responses: { 202: { description: "The work has begun.", body: Accepted } },
  verb: "write",
  resource,
  changesLive: true,
  operation: "importZoneFile",
});
