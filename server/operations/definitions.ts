/** The definitions of all kinds of operations. A kind without a definition does not compile. */
import type { OperationKind } from "@sitewright/contract/operationKinds.ts";
import { addDownloadableBackup } from "./backups/addDownloadableBackup.ts";
import { addManualBackup } from "./backups/addManualBackup.ts";
import { addScheduledBackup } from "./backups/addScheduledBackup.ts";
import { compareRestore } from "./backups/compareRestore.ts";
import { rebuildEnvironment } from "./backups/rebuildEnvironment.ts";
import { removeBackup } from "./backups/removeBackup.ts";
import { restoreBackup } from "./backups/restoreBackup.ts";
import { restoreDeleted } from "./backups/restoreDeleted.ts";
import { testRestore } from "./backups/testRestore.ts";
import { addDomain } from "./domains/addDomain.ts";
import { changeDnsRecord } from "./domains/changeDnsRecord.ts";
import { changePrimaryDomain } from "./domains/changePrimaryDomain.ts";
import { deleteDomain } from "./domains/deleteDomain.ts";
import type { AnyDefinition } from "./engine/operation.ts";
import { updatePackages } from "./packages/updatePackages.ts";
import { updateWordPress } from "./packages/updateWordPress.ts";
import { changeLimits } from "./sites/changeLimits.ts";
import { changeRuntime } from "./sites/changeRuntime.ts";
import { clearCache, clearEdgeCache } from "./sites/clearCache.ts";
import { comparePush } from "./sites/comparePush.ts";
import { createEnvironment } from "./sites/createEnvironment.ts";
import { deleteEnvironment } from "./sites/deleteEnvironment.ts";
import { deleteSite } from "./sites/deleteSite.ts";
import { modifyPhpVersion } from "./sites/modifyPhpVersion.ts";
import { pushEnvironment } from "./sites/pushEnvironment.ts";
import { resetSite } from "./sites/resetSite.ts";
import { restartPhp } from "./sites/restartPhp.ts";
import { runWpCli } from "./sites/runWpCli.ts";
import { previewSearchAndReplace, searchAndReplace } from "./sites/searchAndReplace.ts";
import { updateEdgeCacheStatus } from "./sites/updateEdgeCacheStatus.ts";
import type { Services } from "./steps/services.ts";

export type OperationDefinitions = Readonly<Record<OperationKind, AnyDefinition>>;

export function operationDefinitions(services: Services): OperationDefinitions {
  return {
    addSite: createEnvironment(services, "addSite"),
    addPlainSite: createEnvironment(services, "addPlainSite"),
    cloneSite: createEnvironment(services, "cloneSite"),
    deleteSite: deleteSite(services),
    resetSite: resetSite(services),
    addEnvironment: createEnvironment(services, "addEnvironment"),
    addPlainEnvironment: createEnvironment(services, "addPlainEnvironment"),
    cloneEnvironment: createEnvironment(services, "cloneEnvironment"),
    deleteEnvironment: deleteEnvironment(services),
    pushEnvironment: pushEnvironment(services),
    comparePush: comparePush(services),
    modifyPhpVersion: modifyPhpVersion(services),
    changeRuntime: changeRuntime(services),
    restartPhp: restartPhp(services),
    clearCache: clearCache(services),
    clearEdgeCache: clearEdgeCache(services),
    updateEdgeCacheStatus: updateEdgeCacheStatus(services),
    changeEnvironmentPhpAllocation: changeLimits(services, "changeEnvironmentPhpAllocation"),
    changeSitePhpAllocation: changeLimits(services, "changeSitePhpAllocation"),
    changeEnvironmentLimits: changeLimits(services, "changeEnvironmentLimits"),
    addManualBackup: addManualBackup(services),
    addScheduledBackup: addScheduledBackup(services),
    addDownloadableBackup: addDownloadableBackup(services),
    removeBackup: removeBackup(services),
    restoreBackup: restoreBackup(services),
    compareRestore: compareRestore(services),
    restoreDeletedSite: restoreDeleted(services, "restoreDeletedSite"),
    restoreDeletedEnvironment: restoreDeleted(services, "restoreDeletedEnvironment"),
    proveBackup: testRestore(services),
    rebuildEnvironment: rebuildEnvironment(services),
    searchAndReplace: searchAndReplace(services),
    previewSearchAndReplace: previewSearchAndReplace(services),
    runWpCli: runWpCli(services),
    updatePlugin: updatePackages(services, "updatePlugin"),
    updatePlugins: updatePackages(services, "updatePlugins"),
    updateTheme: updatePackages(services, "updateTheme"),
    updateThemes: updatePackages(services, "updateThemes"),
    updateWordPress: updateWordPress(services),
    addDomain: addDomain(services),
    deleteDomain: deleteDomain(services),
    changePrimaryDomain: changePrimaryDomain(services),
    createDnsRecord: changeDnsRecord(services, "createDnsRecord"),
    updateDnsRecord: changeDnsRecord(services, "updateDnsRecord"),
    deleteDnsRecord: changeDnsRecord(services, "deleteDnsRecord"),
    restoreZoneVersion: changeDnsRecord(services, "restoreZoneVersion"),
    importZoneFile: changeDnsRecord(services, "importZoneFile"),
  };
}
