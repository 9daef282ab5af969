import * as dnsRecords from "@sitewright/server/app/domains/dnsRecords.ts";
import { accepted, type HandlersOf } from "../handling.ts";

export const dnsRecordHandlers: HandlersOf<
  "listDnsRecords" | "createDnsRecord" | "updateDnsRecord" | "deleteDnsRecord"
> = {
  listDnsRecords: async (context, { params }) => ({
    status: 200,
    body: { domain: { dns_records: await dnsRecords.list(context, params.domain_id) } },
  }),
  createDnsRecord: async (context, { params, body }) =>
    accepted("createDnsRecord", await dnsRecords.create(context, params.domain_id, body)),
  updateDnsRecord: async (context, { params, body }) =>
    accepted("updateDnsRecord", await dnsRecords.update(context, params.domain_id, body)),
  deleteDnsRecord: async (context, { params, body }) =>
    accepted("deleteDnsRecord", await dnsRecords.remove(context, params.domain_id, body)),
};
