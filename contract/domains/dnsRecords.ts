/** What a domain's zone answers in DNS. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { pattern, uuid } from "../schema.ts";

export const dnsRecordTypes = ["A", "AAAA", "CNAME", "MX", "TXT", "SPF", "NS", "SRV", "CAA", "PTR"] as const;

const params = Type.Object({ domain_id: uuid("Id of the domain.") });
const noNul = pattern("^[^\\u0000]+$", "must be without the character U+0000");
const type = Type.Enum(dnsRecordTypes, { description: "Of every record in the set.", examples: ["A"] });
const ttl = Type.Integer({
  minimum: 300,
  maximum: 2_147_483_647,
  description: "Seconds for which an answer may be remembered.",
  examples: [3600],
});
const name = Type.String({
  minLength: 1,
  maxLength: 260,
  pattern: noNul,
  description:
    "Absolute, with or without the final dot, in whatever case; `@` is the domain itself. It lies within the domain; its first label may be `*`.",
  examples: ["www.example.com."],
});
const record = Type.Object({
  value: Type.String({
    minLength: 1,
    maxLength: 16_384,
    pattern: noNul,
    description: "As zone files write it; names in it are absolute. A text need not be in quotation marks.",
    examples: ["203.0.113.7"],
  }),
});
const records = (description: string) => Type.Array(record, { minItems: 1, maxItems: 200, description });
const confirm = Type.Optional(
  Type.Boolean({
    default: false,
    description: "Wanted where the addresses of the domain itself, or its mail servers, are taken away.",
  }),
);
const resource = { kind: "domain", from: "params.domain_id" } as const;

export const DnsRecordSet = Type.Object(
  { type, name, ttl, resource_records: records("Everything that the name has of that type.") },
  { title: "DnsRecordSet" },
);

export const listDnsRecords = endpoint({
  method: "GET",
  path: "/domains/{domain_id}/dns-records",
  tag: "DNS",
  summary: "List the DNS records of a domain",
  description: "Of the domain and the names below it. The zone's own SOA and NS records are not among them.",
  params,
  responses: {
    200: result(["domain", "dns_records"], "The record sets.", Type.Array(DnsRecordSet)),
  },
  verb: "read",
  resource,
});

export const createDnsRecord = endpoint({
  method: "POST",
  path: "/domains/{domain_id}/dns-records",
  tag: "DNS",
  summary: "Create a DNS record set",
  description: "The operation is done when the running DNS server answers it.",
  params,
  body: DnsRecordSet,
  responses: { 202: { description: "The work has begun.", body: Accepted } },
  verb: "write",
  resource,
  changesLive: true,
  operation: "createDnsRecord",
});

export const DnsRecordUpdate = Type.Object(
  {
    type,
    name,
    ttl: Type.Optional(ttl),
    new_resource_records: Type.Optional(records("Are added.")),
    removed_resource_records: Type.Optional(records("Are taken away.")),
    confirm,
  },
  { title: "DnsRecordUpdate" },
);

export const updateDnsRecord = endpoint({
  method: "PUT",
  path: "/domains/{domain_id}/dns-records",
  tag: "DNS",
  summary: "Change a DNS record set",
  description: "The operation is done when the running DNS server answers it.",
  params,
  body: DnsRecordUpdate,
  responses: { 202: { description: "The work has begun.", body: Accepted } },
  verb: "write",
  resource,
  changesLive: true,
  operation: "updateDnsRecord",
});

export const DnsRecordDelete = Type.Object({ type, name, confirm }, { title: "DnsRecordDelete" });

export const deleteDnsRecord = endpoint({
  method: "DELETE",
  path: "/domains/{domain_id}/dns-records",
  tag: "DNS",
  summary: "Delete a DNS record set",
  description: "The operation is done when the running DNS server answers it no more.",
  params,
  body: DnsRecordDelete,
  responses: { 202: { description: "The work has begun.", body: Accepted } },
  verb: "delete",
  resource,
  changesLive: true,
  operation: "deleteDnsRecord",
});
