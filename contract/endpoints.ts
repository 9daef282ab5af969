/** The table of all endpoints. An endpoint that is not listed here does not exist. */

import { compareBackups } from "./backups/backupComparison.ts";
import { addManualBackup, listBackups, removeBackup, restoreBackup } from "./backups/backups.ts";
import { listDeletedEnvironments, restoreDeletedEnvironment } from "./backups/deletedEnvironments.ts";
import { listDeletedSites, restoreDeletedSite } from "./backups/deletedSites.ts";
import { addDownloadableBackup, listDownloadableBackups } from "./backups/downloadableBackups.ts";
import { exportActivity, listActivity } from "./company/activity.ts";
import { createApiKey, listApiKeys, revokeApiKey, rotateApiKey, setAllowedAddresses } from "./company/apiKeys.ts";
import { listEvents } from "./company/events.ts";
import {
  acceptInvitation,
  checkInvitation,
  inviteUser,
  listInvitations,
  withdrawInvitation,
} from "./company/invitations.ts";
import { getCompanyLimits } from "./company/limits.ts";
import { addPasskey, beginPasskey, beginPasskeySignIn, removePasskey, signInWithPasskey } from "./company/passkeys.ts";
import {
  checkPasswordReset,
  completePasswordReset,
  getSignInOptions,
  requestPasswordReset,
} from "./company/passwordResets.ts";
import { linkProviderAccount, listProviderAccounts, unlinkProviderAccount } from "./company/providerAccounts.ts";
import { beginProviderSignIn, readProviderAnswer, signInWithProvider } from "./company/providerSignIns.ts";
import {
  beginSecondFactor,
  confirmSecondFactor,
  getSecondFactor,
  removeAuthenticatorApp,
  removeSecondFactor,
  replaceRecoveryCodes,
} from "./company/secondFactors.ts";
import {
  changePassword,
  endOtherSessions,
  endSession,
  getSession,
  listSessions,
  signIn,
  signOut,
} from "./company/sessions.ts";
import { changeSignInRules, getSignInRules } from "./company/signInRules.ts";
import { changeUser, listUsers, removeUser, resetSecondFactor } from "./company/users.ts";
import { validateKey } from "./company/validate.ts";
import { getCertificate, removeCertificate, replaceCertificate } from "./domains/certificates.ts";
import { createDnsRecord, deleteDnsRecord, listDnsRecords, updateDnsRecord } from "./domains/dnsRecords.ts";
import {
  addDomain,
  changePrimaryDomain,
  deleteDomains,
  getForceHttps,
  getVerificationRecords,
  listDomains,
  listSiteDomains,
  setForceHttps,
} from "./domains/domains.ts";
import {
  compareZoneVersions,
  exportZoneFile,
  getZoneVersion,
  importZoneFile,
  listZoneVersions,
  restoreZoneVersion,
} from "./domains/zones.ts";
import type { Answer, Endpoint, Input, Result } from "./endpoint.ts";
import { getOperation, listOperationPictures, listOperations } from "./operations.ts";
import { getInstallation } from "./operator/installation.ts";
import { getAutomaticUpdates, replaceAutomaticUpdates } from "./packages/automaticUpdates.ts";
import {
  listCompanyPlugins,
  listCompanyThemes,
  listPlugins,
  listPluginsOfContainer,
  listThemes,
  listThemesOfContainer,
} from "./packages/packages.ts";
import { updatePlugin, updatePlugins, updateTheme, updateThemes } from "./packages/packageUpdates.ts";
import { cancelRollout, createRollout, getRollout, listRollouts } from "./packages/rollouts.ts";
import { getUpdateChecks, replaceUpdateChecks } from "./packages/updateChecks.ts";
import { listVulnerabilities } from "./packages/vulnerabilities.ts";
import { getWordPress, updateWordPress } from "./packages/wordpressUpdates.ts";
import { listCronEvents } from "./sites/cronEvents.ts";
import { listEnvironments } from "./sites/environments.ts";
import { listFiles } from "./sites/files.ts";
import { assignLabel, createLabel, deleteLabel, listLabels, renameLabel } from "./sites/labels.ts";
import { changeEnvironmentPhpAllocation, changeLimits, changeSitePhpAllocation, getLimits } from "./sites/limits.ts";
import {
  cloneEnvironment,
  createEnvironment,
  createPlainEnvironment,
  deleteEnvironment,
} from "./sites/newEnvironments.ts";
import { cloneSite, createPlainSite } from "./sites/newSites.ts";
import { listPhpVersions } from "./sites/phpVersions.ts";
import { pushEnvironment } from "./sites/push.ts";
import { listRegions } from "./sites/regions.ts";
import { resetSite } from "./sites/reset.ts";
import { changeRuntime, getRuntime } from "./sites/runtime.ts";
import { searchAndReplace } from "./sites/searchAndReplace.ts";
import { listSiteOverviews } from "./sites/siteOverviews.ts";
import { createSite, deleteSite, getSite, listSites } from "./sites/sites.ts";
import { modifyPhpVersion, restartPhp } from "./sites/tools.ts";
import { createWpAdminUser, createWpLoginLink, hasWpAdminUser } from "./sites/wordpressUsers.ts";
import { runWpCli } from "./sites/wpCli.ts";
import {
  getAnalytics,
  getBandwidthAnalytics,
  getBandwidthThisMonth,
  getCompanyAnalytics,
  getDiskSpaceAnalytics,
  getVisitsAnalytics,
  getVisitsThisMonth,
} from "./traffic/analytics.ts";
import { listDeniedIps, replaceDeniedIps } from "./traffic/blockedIps.ts";
import { clearCache, clearEdgeCache, getEdgeCacheStatus, updateEdgeCacheStatus } from "./traffic/edgeCaching.ts";
import { readLogs } from "./traffic/logs.ts";
import { deleteMail, deleteMails, deliverMail, getMail, listMails, modifyMailDelivery } from "./traffic/mails.ts";
import {
  exportRedirectRules,
  importRedirectRules,
  listRedirectRules,
  testRedirectRules,
  updateRedirectRules,
} from "./traffic/redirectRules.ts";
import { listRefusedStatements } from "./traffic/refusedStatements.ts";
import { getUsage } from "./traffic/usage.ts";
import { getXmlRpc, updateXmlRpc } from "./traffic/xmlRpc.ts";

export const endpoints = {
  listSites,
  createSite,
  createPlainSite,
  cloneSite,
  listSiteOverviews,
  getSite,
  deleteSite,
  resetSite,
  listLabels,
  createLabel,
  renameLabel,
  deleteLabel,
  assignLabel,
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
  getRuntime,
  changeRuntime,
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
  getCompanyLimits,
  getUsage,
  getAnalytics,
  getCompanyAnalytics,
  getVisitsAnalytics,
  getBandwidthAnalytics,
  getDiskSpaceAnalytics,
  getVisitsThisMonth,
  getBandwidthThisMonth,
  listDeniedIps,
  replaceDeniedIps,
  getXmlRpc,
  updateXmlRpc,
  listRedirectRules,
  updateRedirectRules,
  testRedirectRules,
  exportRedirectRules,
  importRedirectRules,
  readLogs,
  listRefusedStatements,
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
  compareBackups,
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
  listOperations,
  getOperation,
  listOperationPictures,
  listApiKeys,
  createApiKey,
  setAllowedAddresses,
  rotateApiKey,
  revokeApiKey,
  listActivity,
  exportActivity,
  listEvents,
  listRegions,
  listPhpVersions,
  listUsers,
  changeUser,
  removeUser,
  resetSecondFactor,
  getSignInRules,
  changeSignInRules,
  listInvitations,
  inviteUser,
  withdrawInvitation,
  checkInvitation,
  acceptInvitation,
  validateKey,
  getInstallation,
  signIn,
  getSignInOptions,
  beginPasskeySignIn,
  signInWithPasskey,
  beginProviderSignIn,
  readProviderAnswer,
  signInWithProvider,
  requestPasswordReset,
  checkPasswordReset,
  completePasswordReset,
  getSession,
  signOut,
  changePassword,
  getSecondFactor,
  beginSecondFactor,
  confirmSecondFactor,
  replaceRecoveryCodes,
  removeAuthenticatorApp,
  removeSecondFactor,
  beginPasskey,
  addPasskey,
  removePasskey,
  listProviderAccounts,
  linkProviderAccount,
  unlinkProviderAccount,
  listSessions,
  endSession,
  endOtherSessions,
} as const satisfies Record<string, Endpoint>;

export type EndpointName = keyof typeof endpoints;

type Row<Name extends EndpointName> = (typeof endpoints)[Name];

/** Endpoints that need no key. */
type PublicName = {
  [Name in EndpointName]: Row<Name>["resource"]["kind"] extends "anyone" ? Name : never;
}[EndpointName];

type NameWithResult = {
  [Name in Exclude<EndpointName, PublicName>]: [Result<Row<Name>>] extends [never] ? never : Name;
}[Exclude<EndpointName, PublicName>];

/** Handlers of endpoints whose response follows from the row: they return only the result. */
export type Calls<Context> = {
  readonly [Name in NameWithResult]: (
    context: Context,
    input: Input<Row<Name>>,
  ) => Result<Row<Name>> | Promise<Result<Row<Name>>>;
};

/** Handlers of all other endpoints: they return the whole response. */
export type ResponseHandlers<Context> = {
  readonly [Name in Exclude<EndpointName, NameWithResult | PublicName>]: (
    context: Context,
    input: Input<Row<Name>>,
  ) => Promise<Answer<Row<Name>>>;
};

/** Handlers of endpoints that need no key: they return the whole response. */
export type PublicHandlers<Context> = {
  readonly [Name in PublicName]: (context: Context, input: Input<Row<Name>>) => Promise<Answer<Row<Name>>>;
};

/** One handler for each endpoint that needs a key. A missing handler is a compile error. */
export type Handlers<Context> = Calls<Context> & ResponseHandlers<Context>;
