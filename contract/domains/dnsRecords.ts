/** DNS records of a domain's zone. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { pattern, uuid } from "../schema.ts";

export const dnsRecordTypes = [
  ...(["A", "AAAA", "CNAME", "MX", "TXT", "SPF", "NS", "SRV", "CAA", "PTR"] as const),
  ...(["HTTPS", "SVCB", "TLSA", "SSHFP", "NAPTR", "DS"] as const),
] as const;

/** Of a value, in characters. */
export const maxValueLength = 16_384;

const params = Type.Object({ domain_id: uuid("Id of the domain.") });
const noNul = pattern("^[^\\u0000]+$", "must not contain the character U+0000");
const type = Type.Enum(dnsRecordTypes, { description: "Type of the records.", examples: ["A"] });
const ttl = Type.Integer({
  minimum: 300,
  maximum: 2_147_483_647,
  description: "Time to live in seconds.",
  examples: [3600],
});
const name = Type.String({
  minLength: 1,
  maxLength: 260,
  pattern: noNul,
  description:
    "Full name of the records, within the domain, with or without the final dot; case is ignored. `@` is the domain itself. The first label may be `*`.",
  examples: ["www.example.com."],
});
const record = Type.Object({
  value: Type.String({
    minLength: 1,
    maxLength: maxValueLength,
    pattern: noNul,
    description: "Value in zone file syntax; names in it are absolute. Quotation marks around texts are optional.",
    examples: ["203.0.113.7"],
  }),
});
const records = (description: string) => Type.Array(record, { minItems: 1, maxItems: 200, description });
export const confirm = Type.Optional(
  Type.Boolean({
    default: false,
    description: "Confirms the change. Required if it removes all addresses or mail servers of the domain itself.",
  }),
);
const resource = { kind: "domain", from: "params.domain_id" } as const;

export const DnsRecordSet = Type.Object(
  { type, name, ttl, resource_records: records("All records of this name and type.") },
  { title: "DnsRecordSet" },
);

export const listDnsRecords = endpoint({
  method: "GET",
  path: "/domains/{domain_id}/dns-records",
  tag: "DNS",
  summary: "List a domain's DNS records",
  description: "Lists the records of the domain and its subdomains, without the zone's own SOA and NS records.",
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
  description: "Adds the records of one name and type. The operation ends when the DNS server serves them.",
  params,
  body: DnsRecordSet,
  responses: { 202: { description: "The record set is being created.", body: Accepted } },
  refusals: [
    "no_zone",
    "zone_of_another",
    "outside_the_domain",
    "dns_record_exists",
    "dns_record_unservable",
    "zone_full",
  ],
  verb: "write",
  resource,
  changesLive: true,
  operation: "createDnsRecord",
});

const DnsRecordUpdate = Type.Object(
  {
    type,
    name,
    ttl: Type.Optional(ttl),
    new_resource_records: Type.Optional(records("Records to add.")),
    removed_resource_records: Type.Optional(records("Records to remove.")),
    confirm,
  },
  {
    title: "DnsRecordUpdate",
    examples: [
      {
        type: "A",
        name: "www.example.com.",
        new_resource_records: [{ value: "203.0.113.9" }],
        removed_resource_records: [{ value: "203.0.113.7" }],
      },
    ],
  },
);

export const updateDnsRecord = endpoint({
  method: "PUT",
  path: "/domains/{domain_id}/dns-records",
  tag: "DNS",
  summary: "Change a DNS record set",
  description:
    "Adds and removes records of one name and type, or changes their TTL. The operation ends when the DNS server serves the change.",
  params,
  body: DnsRecordUpdate,
  responses: { 202: { description: "The record set is being changed.", body: Accepted } },
  refusals: [
    "no_zone",
    "zone_of_another",
    "outside_the_domain",
    "dns_record_missing",
    "dns_record_empty",
    "dns_record_unservable",
    "zone_full",
    "confirm_needed",
  ],
  verb: "write",
  resource,
  changesLive: true,
  operation: "updateDnsRecord",
});

const DnsRecordDelete = Type.Object({ type, name, confirm }, { title: "DnsRecordDelete" });

export const deleteDnsRecord = endpoint({
  method: "DELETE",
  path: "/domains/{domain_id}/dns-records",
  tag: "DNS",
  summary: "Delete a DNS record set",
  description:
    "Removes all records of one name and type. The operation ends when the DNS server no longer serves them.",
  params,
  body: DnsRecordDelete,
  responses: { 202: { description: "The record set is being deleted.", body: Accepted } },
  refusals: [
    "no_zone",
    "zone_of_another",
    "outside_the_domain",
    "dns_record_missing",
    "dns_record_unservable",
    "confirm_needed",
  ],
  verb: "delete",
  resource,
  changesLive: true,
  operation: "deleteDnsRecord",
});
