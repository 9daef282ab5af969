/**
 * What the responses to reads depend on, besides the request and the settings.
 *
 * `key`: only the calling key. `database`: also the database. Reads that are not listed depend on more: the clock, files, the edge,
 * or something that is looked up for them.
 */
import type { endpoints } from "@sitewright/contract/endpoints.ts";

export type Dependency = "key" | "database";

const dependencies: { readonly [Name in keyof typeof endpoints]?: Dependency } = {
  validateKey: "key",
  listRegions: "key",
  listPhpVersions: "key",

  listSites: "database",
  getSite: "database",
  listEnvironments: "database",
  getLimits: "database",
  listDomains: "database",
  getForceHttps: "database",
  listDnsRecords: "database",
  listZoneVersions: "database",
  getZoneVersion: "database",
  compareZoneVersions: "database",
  getEdgeCacheStatus: "database",
  listDeniedIps: "database",
  getXmlRpc: "database",
  listRedirectRules: "database",
  listMails: "database",
  getMail: "database",
  getUpdateChecks: "database",
  getAutomaticUpdates: "database",
  listRollouts: "database",
  getRollout: "database",
  listOperations: "database",
  listActivity: "database",
};

const byName = new Map(Object.entries(dependencies));

/** Null if it depends on more. */
export function dependencyOf(endpointName: string): Dependency | null {
  return byName.get(endpointName) ?? null;
}
