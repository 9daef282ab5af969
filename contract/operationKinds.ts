/** The kinds of operation, and the messages about their state. */

interface OperationKindFacts {
  /** The start of its ids, followed by a UUID. */
  readonly prefix: string;
  /** The message in the 202. */
  readonly message: string;
  /** The category of its activity entry; the entry's type is the kind itself. */
  readonly category: ActivityCategory;
}

export const activityCategories = [
  "siteActions",
  "providerDns",
  "migrations",
  "billing",
  "notifications",
  "userManagement",
  "personalSettings",
  "samlSso",
] as const;

export type ActivityCategory = (typeof activityCategories)[number];

export const operationKinds = {
  addSite: { prefix: "sites:add-", message: "Adding site in progress", category: "siteActions" },
  addPlainSite: { prefix: "sites:add-plain-", message: "Adding plain site in progress", category: "siteActions" },
  cloneSite: { prefix: "site:clone-", message: "Cloning site in progress", category: "siteActions" },
  deleteSite: { prefix: "sites:delete-", message: "Deleting site in progress", category: "siteActions" },
  resetSite: { prefix: "sites:reset-site-", message: "Reset site in progress", category: "siteActions" },
  addEnvironment: { prefix: "environment:add-", message: "Adding environment in progress", category: "siteActions" },
  addPlainEnvironment: {
    prefix: "environment:clone-",
    message: "Creating plain environment in progress",
    category: "siteActions",
  },
  cloneEnvironment: {
    prefix: "environment:clone-",
    message: "Cloning environment in progress",
    category: "siteActions",
  },
  deleteEnvironment: {
    prefix: "environments:delete-",
    message: "Deleting environment in progress",
    category: "siteActions",
  },
  pushEnvironment: {
    prefix: "environments:push-",
    message: "Pushing environment in progress",
    category: "siteActions",
  },
  comparePush: { prefix: "environments:push-", message: "Comparing environments in progress", category: "siteActions" },
  modifyPhpVersion: {
    prefix: "php:modify-version-",
    message: "Modifying PHP version in progress",
    category: "siteActions",
  },
  changeRuntime: {
    prefix: "environments:change-runtime-",
    message: "Changing the runtime of the environment in progress",
    category: "siteActions",
  },
  changeEnvironmentPhpAllocation: {
    prefix: "environments:change-environment-php-allocation-",
    message: "Environment PHP allocation change in progress",
    category: "siteActions",
  },
  changeSitePhpAllocation: {
    prefix: "sites:change-site-php-allocation-",
    message: "Site PHP allocation change in progress",
    category: "siteActions",
  },
  changeEnvironmentLimits: {
    prefix: "environments:change-limits-",
    message: "Environment limits change in progress",
    category: "siteActions",
  },
  restartPhp: { prefix: "php:restart-", message: "Restarting PHP in progress", category: "siteActions" },
  clearCache: { prefix: "cache:clear-", message: "Clearing site cache in progress", category: "siteActions" },
  clearEdgeCache: {
    prefix: "edgeCache:clear-",
    message: "Clearing site edge cache in progress",
    category: "siteActions",
  },
  updateEdgeCacheStatus: {
    prefix: "edge-cache:update-status-",
    message: "Updating Site Edge Cache Status in progress",
    category: "siteActions",
  },
  addManualBackup: {
    prefix: "backups:add-manual-",
    message: "Adding a manual backup to environment in progress",
    category: "siteActions",
  },
  addScheduledBackup: {
    prefix: "backups:add-scheduled-",
    message: "Adding a scheduled backup to environment in progress",
    category: "siteActions",
  },
  addDownloadableBackup: {
    prefix: "backups:add-downloadable-",
    message: "Creating a downloadable backup in progress",
    category: "siteActions",
  },
  removeBackup: {
    prefix: "backups:remove-",
    message: "Removing a backup in progress. Use the operation_id to check the status.",
    category: "siteActions",
  },
  restoreBackup: {
    prefix: "backups:restore-",
    message: "Restoring a backup to environment in progress",
    category: "siteActions",
  },
  compareRestore: {
    prefix: "backups:compare-restore-",
    message: "Comparing a backup with the environment in progress",
    category: "siteActions",
  },
  restoreDeletedSite: {
    prefix: "sites:restore-deleted-",
    message: "Restoring deleted site in progress",
    category: "siteActions",
  },
  restoreDeletedEnvironment: {
    prefix: "environments:restore-deleted-",
    message: "Restoring deleted environment in progress",
    category: "siteActions",
  },
  proveBackup: { prefix: "backups:prove-", message: "Proving a backup in progress", category: "siteActions" },
  rebuildEnvironment: {
    prefix: "environments:rebuild-",
    message: "Rebuilding environment in progress",
    category: "siteActions",
  },
  searchAndReplace: {
    prefix: "sites:search-and-replace-",
    message: "Search and replace in progress",
    category: "siteActions",
  },
  previewSearchAndReplace: {
    prefix: "sites:search-and-replace-",
    message: "Search and replace in progress",
    category: "siteActions",
  },
  updatePlugin: {
    prefix: "wp-plugin:update-",
    message: "Updating WordPress plugin in progress",
    category: "siteActions",
  },
  updatePlugins: {
    prefix: "wp-plugins:bulk-update-",
    message: "Bulk-updating WordPress plugins in progress",
    category: "siteActions",
  },
  updateTheme: {
    prefix: "wp-theme:update-",
    message: "Updating WordPress theme in progress",
    category: "siteActions",
  },
  updateThemes: {
    prefix: "wp-themes:bulk-update-",
    message: "Bulk-updating WordPress themes in progress",
    category: "siteActions",
  },
  updateWordPress: { prefix: "wp-core:update-", message: "Updating WordPress in progress", category: "siteActions" },
  addDomain: {
    prefix: "sites:add-domain-",
    message: "Adding site domain in progress",
    category: "siteActions",
  },
  deleteDomain: {
    prefix: "sites:delete-domain-",
    message: "Deleting site domain in progress",
    category: "siteActions",
  },
  changePrimaryDomain: {
    prefix: "sites:change-primary-domain-",
    message: "Changing primary site domain in progress",
    category: "siteActions",
  },
  createDnsRecord: {
    prefix: "domains:create-dns-record-",
    message: "Creating a domain DNS record in progress",
    category: "providerDns",
  },
  updateDnsRecord: {
    prefix: "domains:update-dns-record-",
    message: "Updating a domain DNS record in progress",
    category: "providerDns",
  },
  deleteDnsRecord: {
    prefix: "domains:delete-dns-record-",
    message: "Deleting domain DNS record in progress",
    category: "providerDns",
  },
  restoreZoneVersion: {
    prefix: "domains:restore-zone-version-",
    message: "Restoring a version of the zone in progress",
    category: "providerDns",
  },
  importZoneFile: {
    prefix: "domains:import-zone-file-",
    message: "Importing a zone file in progress",
    category: "providerDns",
  },
  runWpCli: {
    prefix: "environment:run-wp-cli-command-",
    message: "Running a WP CLI command in progress",
    category: "siteActions",
  },
} as const satisfies Record<string, OperationKindFacts>;

export type OperationKind = keyof typeof operationKinds;

export const environmentBusyMessage = "The environment is blocked by another process. Please try again a bit later.";

export const environmentAwayMessage =
  "The environment is still being restored from its backup. Please try again a bit later.";

export const environmentLostMessage =
  "The environment is not on this server, and has no backup that it could be restored from. Restore a backup of another environment to it, or delete it.";

export const operationMessages = {
  running: "Operation in progress",
  succeeded: "Successfully finished request",
  failed: "Error occurred while processing your request",
} as const;
