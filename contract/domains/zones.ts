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
    description: "Wanted where the addresses of the domain itself, or its mail servers, would go.",
  }),
);
const noNul = pattern("^[^\\u0000]*$", "must be without the character U+0000");
const serial = Type.Integer({
  minimum: 1,
  maximum: 4_294_967_295,
  description: "Of the zone after a change; the later, the higher.",
  examples: [1_795_190_400],
});
const createdAt = Type.Number({
  description: "When the records became these; milliseconds since 1970.",
  examples: [1795190400000],
});
const ZoneVersion = Type.Object(
  {
    serial,
    created_at: createdAt,
    record_sets_count: Type.Integer({ description: "Of the domain and the names below it.", examples: [6] }),
  },
  { title: "ZoneVersion" },
);

export const listZoneVersions = endpoint({
  method: "GET",
  path: "/domains/{domain_id}/zone-versions",
  tag,
  summary: "List what the zone of a domain was",
  description: "A version for each change of its records, the newest first; of the last 100.",
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
  summary: "Get a version of the zone of a domain",
  description: "The record sets of the domain and the names below it as they were then.",
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
  summary: "Compare two versions of the zone of a domain",
  description: "Which record sets are others in the one than in the other.",
  params: bySerial,
  query: Type.Object({
    to: Type.Optional(
      Type.String({
        pattern: pattern("^[1-9][0-9]{0,9}$", "must be the serial of a version"),
        description: "Serial of the other version; left out: the records of now.",
        examples: ["1795190500"],
      }),
    ),
  }),
  responses: {
    200: result(
      ["difference"],
      "The difference, by name and type. `before` is null for what came, `after` for what went.",
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
  summary: "Go back to a version of the zone of a domain",
  description:
    "The domain and the names below it have the record sets of then again, and no others. That makes a new version: it can be gone back on, too. The operation is done when the running DNS server answers them.",
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
  description: "As RFC 1035 has it, with `$TTL` and `$ORIGIN`. Names without a final dot are below the domain.",
  examples: ["www\t3600\tIN\tA\t203.0.113.7\n"],
});

export const exportZoneFile = endpoint({
  method: "GET",
  path: "/domains/{domain_id}/zone-file",
  tag,
  summary: "Export the zone of a domain as a zone file",
  description: "The domain and the names below it, with SOA and NS records, as other DNS servers read it.",
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
  summary: "Import a zone file into the zone of a domain",
  description:
    "Its record sets take the place of those of the same name and type; all or none are taken. SOA records, and NS records of the domain itself, are left out; a time to live below 300 becomes 300. The operation is done when the running DNS server answers them.",
  params: byDomain,
  body: Type.Object(
    {
      zone_file: zoneFile,
      replace: Type.Optional(
        Type.Boolean({ default: false, description: "Whether what the domain has besides goes." }),
      ),
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
