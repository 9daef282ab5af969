/** Domains of the company and their DNS records. */
import { queryOptions } from "@tanstack/react-query";
import { answerOf, api, type Schemas } from "./client.ts";

export type RecordSet = Schemas["DnsRecordSet"];

export const companyDomainsQuery = (company: string) =>
  queryOptions({
    queryKey: ["sites", "company-domains", company],
    queryFn: async ({ signal }) => {
      const params = { query: { company } };
      return (await answerOf(api.GET("/domains", { params, signal }))).company.domains;
    },
  });

export const recordsQuery = (domainId: string) =>
  queryOptions({
    queryKey: ["sites", "records", domainId],
    queryFn: async ({ signal }) => {
      const params = { path: { domain_id: domainId } };
      return (await answerOf(api.GET("/domains/{domain_id}/dns-records", { params, signal }))).domain.dns_records;
    },
  });

export const zoneVersionsQuery = (domainId: string) =>
  queryOptions({
    queryKey: ["sites", "zone-versions", domainId],
    queryFn: async ({ signal }) => {
      const params = { path: { domain_id: domainId } };
      return (await answerOf(api.GET("/domains/{domain_id}/zone-versions", { params, signal }))).domain.zone_versions;
    },
  });

export const zoneDifferenceQuery = (domainId: string, serial: number) =>
  queryOptions({
    queryKey: ["sites", "zone-difference", domainId, serial],
    queryFn: async ({ signal }) => {
      const params = { path: { domain_id: domainId, serial: String(serial) } };
      return (await answerOf(api.GET("/domains/{domain_id}/zone-versions/{serial}/difference", { params, signal })))
        .difference;
    },
  });
