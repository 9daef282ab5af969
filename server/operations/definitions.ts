/** Every kind of operation there is. A kind without a definition does not compile. */
import type { OperationKind } from "@sitewright/contract/operations.ts";
import { addDomain } from "./addDomain.ts";
import { addDownloadableBackup } from "./addDownloadableBackup.ts";
import { addManualBackup } from "./addManualBackup.ts";
import { addScheduledBackup } from "./addScheduledBackup.ts";
import { changeDnsRecord } from "./changeDnsRecord.ts";
import { changeLimits } from "./changeLimits.ts";
import { changePrimaryDomain } from "./changePrimaryDomain.ts";
import { clearCache, clearEdgeCache } from "./clearCache.ts";
import { comparePush } from "./comparePush.ts";
import { createEnvironment } from "./createEnvironment.ts";
import { createSite } from "./createSite.ts";
import { deleteDomain } from "./deleteDomain.ts";
import { deleteEnvironment } from "./deleteEnvironment.ts";
import { deleteSite } from "./deleteSite.ts";
import { modifyPhpVersion } from "./modifyPhpVersion.ts";
import type { AnyDefinition } from "./operation.ts";
import { proveBackup } from "./proveBackup.ts";
import { pushEnvironment } from "./pushEnvironment.ts";
import { rebuildEnvironment } from "./rebuildEnvironment.ts";
import { removeBackup } from "./removeBackup.ts";
import { resetSite } from "./resetSite.ts";
import { restartPhp } from "./restartPhp.ts";
import { restoreBackup } from "./restoreBackup.ts";
import { restoreDeleted } from "./restoreDeleted.ts";
import { runWpCli } from "./runWpCli.ts";
import { previewSearchAndReplace, searchAndReplace } from "./searchAndReplace.ts";
import type { Services } from "./services.ts";
import { updateEdgeCacheStatus } from "./updateEdgeCacheStatus.ts";
import { updatePackages } from "./updatePackages.ts";
import { updateWordPress } from "./updateWordPress.ts";

export type OperationDefinitions = Readonly<Record<OperationKind, AnyDefinition>>;

export function operationDefinitions(services: Services): OperationDefinitions {
  return {
    addSite: createSite(services),
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
    restoreDeletedSite: restoreDeleted(services, "restoreDeletedSite"),
    restoreDeletedEnvironment: restoreDeleted(services, "restoreDeletedEnvironment"),
    proveBackup: proveBackup(services),
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
