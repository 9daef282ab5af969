import { add } from "@sitewright/server/app/domains/addDomain.ts";
import * as domains from "@sitewright/server/app/domains/domains.ts";
import * as primaryDomain from "@sitewright/server/app/domains/primaryDomain.ts";
import { accepted, type HandlersOf } from "../handling.ts";

export const domainHandlers: HandlersOf<
  | "listDomains"
  | "listSiteDomains"
  | "addDomain"
  | "deleteDomains"
  | "changePrimaryDomain"
  | "getVerificationRecords"
  | "getForceHttps"
  | "setForceHttps"
> = {
  listDomains: async (context) => ({
    status: 200,
    body: { company: { domains: await domains.listOfCompany(context) } },
  }),
  listSiteDomains: async (context, { params }) => ({
    status: 200,
    body: { environment: { site_domains: await domains.list(context, params.env_id) } },
  }),
  addDomain: async (context, { params, body }) => accepted("addDomain", await add(context, params.env_id, body)),
  deleteDomains: async (context, { params, body }) =>
    accepted("deleteDomain", await domains.remove(context, params.env_id, body.domain_ids)),
  changePrimaryDomain: async (context, { params, body }) =>
    accepted("changePrimaryDomain", await primaryDomain.change(context, params.env_id, body)),
  getVerificationRecords: async (context, { params }) => ({
    status: 200,
    body: { site_domain: await domains.verificationRecords(context, params.site_domain_id) },
  }),
  getForceHttps: async (context, { params }) => ({
    status: 200,
    body: { environment: await primaryDomain.forceHttpsStatus(context, params.env_id) },
  }),
  setForceHttps: async (context, { params, body }) => ({
    status: 200,
    body: { environment: await primaryDomain.forceHttps(context, params.env_id, body.type) },
  }),
};
