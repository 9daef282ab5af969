/** Every endpoint there is. What is not listed here does not exist. */
import { listActivity } from "./activity.ts";
import { createApiKey, listApiKeys, revokeApiKey } from "./apiKeys.ts";
import { getAutomaticUpdates, replaceAutomaticUpdates } from "./automaticUpdates.ts";
import { addManualBackup, listBackups, removeBackup, restoreBackup } from "./backups.ts";
import { getCertificate, removeCertificate, replaceCertificate } from "./certificates.ts";
import { listCronEvents } from "./cronEvents.ts";
import { listDeletedEnvironments, restoreDeletedEnvironment } from "./deletedEnvironments.ts";
import { listDeletedSites, restoreDeletedSite } from "./deletedSites.ts";
import { listDeniedIps, replaceDeniedIps } from "./deniedIps.ts";
import { createDnsRecord, deleteDnsRecord, listDnsRecords, updateDnsRecord } from "./dnsRecords.ts";
import {
  addDomain,
  changePrimaryDomain,
  deleteDomains,
  getForceHttps,
  getVerificationRecords,
  listDomains,
  listSiteDomains,
  setForceHttps,
} from "./domains.ts";
import { addDownloadableBackup, listDownloadableBackups } from "./downloadableBackups.ts";
import { clearCache, clearEdgeCache, getEdgeCacheStatus, updateEdgeCacheStatus } from "./edgeCaching.ts";
import type { Answer, Endpoint, Input } from "./endpoint.ts";
import { listEnvironments } from "./environments.ts";
import { listFiles } from "./files.ts";
import { changeEnvironmentPhpAllocation, changeLimits, changeSitePhpAllocation, getLimits } from "./limits.ts";
import { readLogs } from "./logs.ts";
import { deleteMail, deleteMails, deliverMail, getMail, listMails, modifyMailDelivery } from "./mails.ts";
import { cloneEnvironment, createEnvironment, createPlainEnvironment, deleteEnvironment } from "./newEnvironments.ts";
import { cloneSite, createPlainSite } from "./newSites.ts";
import { getOperation, listOperationPictures } from "./operations.ts";
import {
  listCompanyPlugins,
  listCompanyThemes,
  listPlugins,
  listPluginsOfContainer,
  listThemes,
  listThemesOfContainer,
} from "./packages.ts";
import { updatePlugin, updatePlugins, updateTheme, updateThemes } from "./packageUpdates.ts";
import { listPhpVersions } from "./phpVersions.ts";
import { pushEnvironment } from "./push.ts";
import {
  exportRedirectRules,
  importRedirectRules,
  listRedirectRules,
  testRedirectRules,
  updateRedirectRules,
} from "./redirectRules.ts";
import { listRegions } from "./regions.ts";
import { resetSite } from "./reset.ts";
import { cancelRollout, createRollout, getRollout, listRollouts } from "./rollouts.ts";
import { searchAndReplace } from "./searchAndReplace.ts";
import { createSite, deleteSite, getSite, listSites } from "./sites.ts";
import { modifyPhpVersion, restartPhp } from "./tools.ts";
import { getUpdateChecks, replaceUpdateChecks } from "./updateChecks.ts";
import { getUsage } from "./usage.ts";
import { validateKey } from "./validate.ts";
import { listVulnerabilities } from "./vulnerabilities.ts";
import { getWordPress, updateWordPress } from "./wordpressUpdates.ts";
import { createWpAdminUser, createWpLoginLink, hasWpAdminUser } from "./wordpressUsers.ts";
import { runWpCli } from "./wpCli.ts";
import {
  compareZoneVersions,
  exportZoneFile,
  getZoneVersion,
  importZoneFile,
  listZoneVersions,
  restoreZoneVersion,
} from "./zones.ts";

export const endpoints = {
  listSites,
  createSite,
  createPlainSite,
  cloneSite,
  getSite,
  deleteSite,
  resetSite,
  listEnvironments,
  listFiles,
  listCronEvents,
  createEnvironment,
  createPlainEnvironment,
  cloneEnvironment,
  deleteEnvironment,
  pushEnvironment,
  hasWpAdminUser,
  createWpAdminUser,
  createWpLoginLink,
  modifyPhpVersion,
  restartPhp,
  clearCache,
  clearEdgeCache,
  getEdgeCacheStatus,
  updateEdgeCacheStatus,
  searchAndReplace,
  runWpCli,
  changeEnvironmentPhpAllocation,
  changeSitePhpAllocation,
  getLimits,
  changeLimits,
  getUsage,
  listDeniedIps,
  replaceDeniedIps,
  listRedirectRules,
  updateRedirectRules,
  testRedirectRules,
  exportRedirectRules,
  importRedirectRules,
  readLogs,
  listCompanyPlugins,
  listCompanyThemes,
  listPlugins,
  listThemes,
  listPluginsOfContainer,
  listThemesOfContainer,
  updatePlugin,
  updatePlugins,
  updateTheme,
  updateThemes,
  getWordPress,
  updateWordPress,
  getUpdateChecks,
  replaceUpdateChecks,
  getAutomaticUpdates,
  replaceAutomaticUpdates,
  createRollout,
  listRollouts,
  getRollout,
  cancelRollout,
  listVulnerabilities,
  listDnsRecords,
  createDnsRecord,
  updateDnsRecord,
  deleteDnsRecord,
  listZoneVersions,
  getZoneVersion,
  compareZoneVersions,
  restoreZoneVersion,
  exportZoneFile,
  importZoneFile,
  listDomains,
  listSiteDomains,
  addDomain,
  deleteDomains,
  changePrimaryDomain,
  getVerificationRecords,
  getCertificate,
  replaceCertificate,
  removeCertificate,
  getForceHttps,
  setForceHttps,
  listBackups,
  addManualBackup,
  removeBackup,
  restoreBackup,
  listDeletedSites,
  restoreDeletedSite,
  listDeletedEnvironments,
  restoreDeletedEnvironment,
  listDownloadableBackups,
  addDownloadableBackup,
  listMails,
  getMail,
  deliverMail,
  deleteMail,
  deleteMails,
  modifyMailDelivery,
  getOperation,
  listOperationPictures,
  listApiKeys,
  createApiKey,
  revokeApiKey,
  listActivity,
  listRegions,
  listPhpVersions,
  validateKey,
} as const satisfies Record<string, Endpoint>;

export type EndpointName = keyof typeof endpoints;

/** One handler for each endpoint: leave one out and nothing compiles. */
export type Handlers<Context> = {
  readonly [Name in EndpointName]: (
    context: Context,
    input: Input<(typeof endpoints)[Name]>,
  ) => Promise<Answer<(typeof endpoints)[Name]>>;
};
