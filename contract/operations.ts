/** The kinds of operation there are, and the endpoint that follows one. */
import { Type } from "typebox";
import { endpoint, result } from "./endpoint.ts";
import { nullable, pattern, uuid } from "./schema.ts";

interface OperationKindFacts {
  /** What its ids begin with; a fresh UUID follows. */
  readonly prefix: string;
  /** The message of the 202. */
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
  comparePush: { prefix: "environments:push-", message: "Pushing environment in progress", category: "siteActions" },
  modifyPhpVersion: {
    prefix: "php:modify-version-",
    message: "Modifying PHP version in progress",
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
  "The environment is still being brought back from its backup. Please try again a bit later.";

export const environmentLostMessage =
  "The environment is not on this server, and has no backup that it could be brought back from. Restore a backup of another environment to it, or delete it.";

export const operationMessages = {
  running: "Operation in progress",
  succeeded: "Successfully finished request",
  failed: "Error occurred while processing your request",
} as const;

const OPERATION_ID = "sites:add-54fb80af-576c-4fdc-ba4f-b596c83f15a1";

/** Body of every 202 that starts an operation. */
export const Accepted = Type.Object(
  {
    operation_id: Type.String({
      description: "Follow it with `GET /operations/{operation_id}`. It exists before this answer is sent.",
      examples: [OPERATION_ID],
    }),
    message: Type.String({ examples: ["Adding site in progress"] }),
    status: Type.Literal(202),
  },
  { title: "Accepted", description: "The work was accepted and goes on after this answer." },
);

const OperationData = Type.Object(
  {
    idSite: Type.Optional(uuid("The site that it acts on.")),
    idEnv: Type.Optional(uuid("The environment that it acts on.")),
    result: Type.Optional(Type.Unsafe<unknown>({ description: "What it produced; depends on its kind." })),
    kind: Type.Optional(Type.String({ examples: ["addSite"] })),
    step: Type.Optional(nullable(Type.String({ description: "What it is doing.", examples: ["provision"] }))),
    steps_done: Type.Optional(Type.Integer({ examples: [1] })),
    steps_total: Type.Optional(Type.Integer({ examples: [3] })),
    started_at: Type.Optional(nullable(Type.String({ format: "date-time" }))),
    finished_at: Type.Optional(nullable(Type.String({ format: "date-time" }))),
    status: Type.Optional(Type.Integer({ description: "With a failure only: the HTTP status again." })),
    message: Type.Optional(Type.String({ description: "With a failure only: the reason." })),
    reference_id: Type.Optional(
      Type.String({ description: "With a failure only: the id under which the log has the cause." }),
    ),
  },
  { title: "OperationData", description: "How far an operation is and what it acts on." },
);

const OperationStatus = Type.Object(
  { status: Type.Integer(), message: Type.String(), data: OperationData },
  { title: "OperationStatus", description: "State of an operation. `status` is the HTTP status." },
);

const operationId = Type.Object({
  operation_id: Type.String({
    maxLength: 100,
    pattern: pattern("^[\\u0021-\\u007e]+$", "must be an operation's id"),
    description: "The id from a 202. The colon may be percent-encoded.",
    examples: [OPERATION_ID],
  }),
});

const bytes = (when: string) =>
  Type.Integer({ minimum: 0, description: `Of the PNG that shows how it looked ${when}.` });

const picture = (when: string) =>
  Type.Optional(
    Type.String({
      description: `How it looked ${when}: a PNG, as a data URL. Only where this page was asked for.`,
      examples: ["data:image/png;base64,iVBORw0KGgo="],
    }),
  );

const ComparedPage = Type.Object(
  {
    path: Type.String({ examples: ["/"] }),
    difference: Type.Number({ minimum: 0, maximum: 100, description: "So many percent of the picture are another." }),
    before_bytes: bytes("before"),
    after_bytes: bytes("afterwards"),
    before: picture("before"),
    after: picture("afterwards"),
  },
  { title: "ComparedPage" },
);

export const listOperationPictures = endpoint({
  method: "GET",
  path: "/operations/{operation_id}/pictures",
  tag: "Operations",
  summary: "How pages looked before an update and after it",
  description:
    "Where its environment wanted pictures to be taken. Each page is listed with the difference between its two pictures; the pictures themselves are sent of one page at a time, the one whose path is asked for. They are kept for 30 days.",
  params: operationId,
  query: Type.Object({
    path: Type.Optional(
      Type.String({ maxLength: 500, description: "Of the page whose pictures are wanted.", examples: ["/"] }),
    ),
  }),
  responses: {
    200: result(
      ["operation", "pictures"],
      "The pages; none where no pictures were taken, or none of the page that was asked for.",
      Type.Array(ComparedPage),
    ),
  },
  verb: "read",
  resource: { kind: "operation", from: "params.operation_id" },
});

export const getOperation = endpoint({
  method: "GET",
  path: "/operations/{operation_id}",
  tag: "Operations",
  summary: "Follow an operation",
  description:
    "Answers 202 while the operation waits or runs, 200 when it has succeeded and 500 when it has failed. A failed operation has undone what it did, except for a command of WP-CLI, of which `data.result` tells; `data.message` says why it failed. Finished operations stay readable for at least 7 days. With `wait` the request is held open until the operation ends, so that no polling is needed.",
  params: operationId,
  query: Type.Object({
    wait: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 30,
        description: "Seconds to hold the request open for the end of the operation.",
      }),
    ),
  }),
  responses: {
    200: { description: "It has succeeded.", body: OperationStatus },
    202: { description: "It waits or runs. `Retry-After` says in seconds when to ask again.", body: OperationStatus },
    500: { description: "It has failed (`data.message` says why), or this request has.", body: OperationStatus },
  },
  verb: "read",
  resource: { kind: "operation", from: "params.operation_id" },
  bucket: "operations",
});
