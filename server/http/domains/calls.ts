import { add } from "@sitewright/server/app/domains/addDomain.ts";
import * as certificates from "@sitewright/server/app/domains/certificates.ts";
import * as dnsRecords from "@sitewright/server/app/domains/dnsRecords.ts";
import * as domains from "@sitewright/server/app/domains/domains.ts";
import * as primaryDomain from "@sitewright/server/app/domains/primaryDomain.ts";
import * as zones from "@sitewright/server/app/domains/zones.ts";
import type { SomeCalls } from "../handling.ts";

export const domainCalls = {
  listDomains: (context, { query }) => domains.listOfCompany(context, query),
  listSiteDomains: (context, { params }) => domains.list(context, params.env_id),
  addDomain: (context, { params, body }) => add(context, params.env_id, body),
  deleteDomains: (context, { params, body }) => domains.remove(context, params.env_id, body.domain_ids),
  changePrimaryDomain: (context, { params, body }) => primaryDomain.change(context, params.env_id, body),
  getVerificationRecords: (context, { params }) => domains.verificationRecords(context, params.site_domain_id),
  getForceHttps: (context, { params }) => primaryDomain.forceHttpsStatus(context, params.env_id),
  setForceHttps: (context, { params, body }) => primaryDomain.forceHttps(context, params.env_id, body.type),

  getCertificate: (context, { params }) => certificates.show(context, params.site_domain_id),
  replaceCertificate: (context, { params, body }) => certificates.replace(context, params.site_domain_id, body),
  removeCertificate: (context, { params }) => certificates.remove(context, params.site_domain_id),

  listDnsRecords: (context, { params }) => dnsRecords.list(context, params.domain_id),
  createDnsRecord: (context, { params, body }) => dnsRecords.create(context, params.domain_id, body),
  updateDnsRecord: (context, { params, body }) => dnsRecords.update(context, params.domain_id, body),
  deleteDnsRecord: (context, { params, body }) => dnsRecords.remove(context, params.domain_id, body),

  listZoneVersions: (context, { params }) => zones.listVersions(context, params.domain_id),
  getZoneVersion: (context, { params }) => zones.version(context, params.domain_id, Number(params.serial)),
  compareZoneVersions: (context, { params, query }) => {
    const to = query.to === undefined ? undefined : Number(query.to);
    return zones.compare(context, params.domain_id, Number(params.serial), to);
  },
  restoreZoneVersion: (context, { params, body }) =>
    zones.restore(context, params.domain_id, Number(params.serial), body.confirm),
  exportZoneFile: (context, { params }) => zones.exportFile(context, params.domain_id),
  importZoneFile: (context, { params, body }) => zones.importFile(context, params.domain_id, body),
} satisfies SomeCalls;
