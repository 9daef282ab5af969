import * as analytics from "@sitewright/server/app/traffic/analytics.ts";
import * as clientAnalytics from "@sitewright/server/app/traffic/clientAnalytics.ts";
import * as edgeCaching from "@sitewright/server/app/traffic/edgeCaching.ts";
import * as logs from "@sitewright/server/app/traffic/logs.ts";
import * as mails from "@sitewright/server/app/traffic/mails.ts";
import * as redirectRules from "@sitewright/server/app/traffic/redirectRules.ts";
import * as refusedStatements from "@sitewright/server/app/traffic/refusedStatements.ts";
import * as usage from "@sitewright/server/app/traffic/usage.ts";
import * as blockedIps from "../../app/traffic/blockedIps.ts";
import * as xmlRpc from "../../app/traffic/xmlRpc.ts";
import type { SomeCalls } from "../handling.ts";

export const trafficCalls = {
  clearCache: (context, { body }) => edgeCaching.clearAll(context, body.environment_id),
  clearEdgeCache: (context, { body }) => edgeCaching.clear(context, body),
  getEdgeCacheStatus: (context, { query }) => edgeCaching.status(context, query.environment_id),
  updateEdgeCacheStatus: (context, { body }) => edgeCaching.setStatus(context, body.environment_id, body.enabled),

  listDeniedIps: (context, { query }) => blockedIps.list(context, query.environment_id),
  replaceDeniedIps: async (context, { body }) => {
    await blockedIps.replace(context, body.environment_id, body.ip_list);
    return null;
  },

  getXmlRpc: (context, { query }) => xmlRpc.status(context, query.environment_id),
  updateXmlRpc: async (context, { body }) => {
    await xmlRpc.setStatus(context, body.environment_id, body.is_enabled);
    return null;
  },

  listRedirectRules: (context, { params, query }) => redirectRules.list(context, params.env_id, query),
  updateRedirectRules: (context, { params, body }) => redirectRules.update(context, params.env_id, body),
  testRedirectRules: (context, { params, body }) => redirectRules.testUrl(context, params.env_id, body),
  exportRedirectRules: (context, { params }) => redirectRules.exportCsv(context, params.env_id),
  importRedirectRules: (context, { params, body }) => redirectRules.importCsv(context, params.env_id, body),

  readLogs: (context, { params, query }) => logs.read(context, params.env_id, query),
  listRefusedStatements: (context, { params }) => refusedStatements.list(context, params.env_id),
  getUsage: (context, { query }) => usage.list(context, query),

  getAnalytics: (context, { params, query }) => analytics.get(context, params.env_id, query),
  getCompanyAnalytics: (context, { query }) => analytics.ofCompany(context, query),
  getVisitsAnalytics: (context, { params, query }) => clientAnalytics.visits(context, params.env_id, query),
  getBandwidthAnalytics: (context, { params, query }) => clientAnalytics.bandwidth(context, params.env_id, query),
  getDiskSpaceAnalytics: (context, { params, query }) => clientAnalytics.diskSpace(context, params.env_id, query),
  getVisitsThisMonth: async (context, { params }) => {
    const { visits } = await clientAnalytics.siteThisMonth(context, params.site_id);
    return { id: params.site_id, this_month_usage: { visits } };
  },
  getBandwidthThisMonth: async (context, { params }) => {
    const { bytes } = await clientAnalytics.siteThisMonth(context, params.site_id);
    return { id: params.site_id, this_month_usage: { bandwidth: bytes } };
  },

  listMails: (context, { params, query }) => mails.list(context, params.env_id, query),
  getMail: (context, { params }) => mails.get(context, params.env_id, params.mail_id),
  deliverMail: (context, { params }) => mails.deliver(context, params.env_id, params.mail_id),
  deleteMail: (context, { params }) => mails.remove(context, params.env_id, params.mail_id),
  deleteMails: (context, { params }) => mails.remove(context, params.env_id, null),
  modifyMailDelivery: (context, { params, body }) => mails.modifyDelivery(context, params.env_id, body.delivery),
} satisfies SomeCalls;
