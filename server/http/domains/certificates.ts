import * as certificates from "@sitewright/server/app/domains/certificates.ts";
import type { HandlersOf } from "../handling.ts";

export const certificateHandlers: HandlersOf<"getCertificate" | "replaceCertificate" | "removeCertificate"> = {
  getCertificate: async (context, { params }) => ({
    status: 200,
    body: { site_domain: await certificates.show(context, params.site_domain_id) },
  }),
  replaceCertificate: async (context, { params, body }) => ({
    status: 200,
    body: { site_domain: await certificates.replace(context, params.site_domain_id, body) },
  }),
  removeCertificate: async (context, { params }) => ({
    status: 200,
    body: { site_domain: await certificates.remove(context, params.site_domain_id) },
  }),
};
