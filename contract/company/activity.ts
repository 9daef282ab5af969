/** The activity log: who did what, and when. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { activityCategories } from "../operationKinds.ts";
import { limit, nullable, offset, uuid } from "../schema.ts";

export const languages = ["da", "de", "en", "es", "fr", "it", "ja", "nl", "pt", "sv"] as const;
export type Language = (typeof languages)[number];

/** All types of entries. Clients must expect others, because later versions may add some. */
export const activityTypes = [
  "addSite",
  "addPlainSite",
  "cloneSite",
  "deleteSite",
  "resetSite",
  "addEnvironment",
  "addPlainEnvironment",
  "cloneEnvironment",
  "deleteEnvironment",
  "pushEnvironment",
  "comparePush",
  "modifyPhpVersion",
  "changeRuntime",
  "changeEnvironmentPhpAllocation",
  "changeSitePhpAllocation",
  "changeEnvironmentLimits",
  "restartPhp",
  "clearCache",
  "clearEdgeCache",
  "updateEdgeCacheStatus",
  "replaceDeniedIps",
  "updateXmlRpc",
  "replaceUpdateChecks",
  "replaceAutomaticUpdates",
  "updateRedirectRules",
  "createWpAdminUser",
  "createWpLoginLink",
  "addManualBackup",
  "addScheduledBackup",
  "addDownloadableBackup",
  "removeBackup",
  "restoreBackup",
  "compareRestore",
  "restoreDeletedSite",
  "restoreDeletedEnvironment",
  "proveBackup",
  "rebuildEnvironment",
  "searchAndReplace",
  "updatePlugin",
  "updatePlugins",
  "updateTheme",
  "updateThemes",
  "updateWordPress",
  "createLabel",
  "renameLabel",
  "deleteLabel",
  "assignLabel",
  "createRollout",
  "cancelRollout",
  "previewSearchAndReplace",
  "runWpCli",
  "addDomain",
  "deleteDomain",
  "changePrimaryDomain",
  "createDnsRecord",
  "updateDnsRecord",
  "deleteDnsRecord",
  "restoreZoneVersion",
  "importZoneFile",
  "verifyDomain",
  "releaseDomain",
  "setForceHttps",
  "replaceCertificate",
  "removeCertificate",
  "modifyMailDelivery",
  "deliverMail",
  "deleteMails",
  "logInToWp",
  "useWpLoginLink",
  "createApiKey",
  "changeApiKey",
  "rotateApiKey",
  "revokeApiKey",
  "useApiKey",
  "signIn",
  "endSession",
  "endOtherSessions",
  "changePassword",
  "addSecondFactor",
  "removeSecondFactor",
  "removeAuthenticatorApp",
  "addPasskey",
  "removePasskey",
  "linkProviderAccount",
  "unlinkProviderAccount",
  "resetOwnPassword",
  "replaceRecoveryCodes",
  "useRecoveryCode",
  "resetSecondFactor",
  "requireSecondFactor",
  "stopRequiringSecondFactor",
  "inviteUser",
  "withdrawInvitation",
  "acceptInvitation",
  "changeUser",
  "removeUser",
  "downloadBackup",
  "exportActivity",
] as const;
export type ActivityType = (typeof activityTypes)[number];

const optionalText = (description: string, example: string) =>
  nullable(Type.String({ description: `${description}, or null.`, examples: [example] }));

const ActivityEntry = Type.Object(
  {
    id: Type.Integer({ description: "Id of the entry; later entries have higher ids.", examples: [4711] }),
    site_id: nullable(uuid("Id of the site, or null if it does not concern one.")),
    created_at: Type.Number({ description: "When it began. Milliseconds since 1970.", examples: [1795190400000] }),
    is_done: Type.Boolean({ description: "False while the work is in progress.", examples: [true] }),
    has_failed: Type.Boolean({ description: "Whether it failed; `public_error` says why." }),
    has_warning: Type.Boolean({ description: "Whether it succeeded with a warning; `public_error` is the warning." }),
    type: Type.String({
      description: `Type of the entry. Later versions may add types; currently: ${activityTypes.join(", ")}.`,
      examples: ["addSite"],
    }),
    public_error: nullable(Type.String({ description: "Why it failed, or the warning, or null." })),
    ip_address: optionalText("IP address of the client", "203.0.113.7"),
    initiated_by: nullable(
      Type.Object(
        {
          id: uuid("Id of the user."),
          role: optionalText("The user's role at that time: owner, admin, developer, billing or viewer", "owner"),
          full_name: optionalText("Full name", "Ada Lovelace"),
          first_name: optionalText("First name", "Ada"),
        },
        { description: "The user who did it, or null if it was Sitewright itself." },
      ),
    ),
    user_agent_info: nullable(
      Type.Object(
        {
          browser_name: optionalText("Name of the browser", "Firefox"),
          browser_version: optionalText("Version of the browser", "140.0"),
          os_name: optionalText("Operating system", "Linux"),
        },
        { description: "The client, according to its `User-Agent` header, or null." },
      ),
    ),
    api_key_info: nullable(
      Type.Object(
        { id: uuid("Id of the API key."), name: optionalText("Name of the API key", "Deploy") },
        { description: "The API key that was used, or null." },
      ),
    ),
    descriptions: nullable(
      Type.Array(Type.String(), {
        description: "The action, in the requested language.",
        examples: [["Add the site “Demo”"]],
      }),
    ),
  },
  { title: "ActivityEntry" },
);

const time = (description: string, example: string) =>
  Type.Optional(
    Type.String({
      format: "date-time",
      maxLength: 40,
      description: `${description} Date and time with a time zone, in ISO 8601.`,
      examples: [example],
    }),
  );

export const exportActivity = endpoint({
  method: "GET",
  path: "/company/{id}/activity-logs/export",
  tag: "Activity log",
  summary: "Export a company's activity log",
  description:
    "Oldest first. As JSON lines, each entry has its seals in the company's hash chain. In CSV, values that a spreadsheet would run as a formula begin with an apostrophe. The export becomes an entry of the log.",
  params: Type.Object({ id: uuid("Id of the company.") }),
  query: Type.Object({
    format: Type.Optional(Type.Enum(["jsonl", "csv"], { default: "jsonl", description: "JSON lines or CSV." })),
    category: Type.Optional(Type.Enum(activityCategories, { description: "Only entries of this category." })),
    from: time("Only entries from this time on.", "2026-11-01T00:00:00Z"),
    to: time("Only entries before this time.", "2026-12-01T00:00:00Z"),
  }),
  responses: {
    200: {
      description: "The entries.",
      body: Type.String(),
      mediaTypes: {
        "application/x-ndjson": '{"id":4711,"created_at":"2026-11-26T12:00:00.000Z","type":"addSite","seals":[]}\n',
        "text/csv": "id,created_at,type\n4711,2026-11-26T12:00:00.000Z,addSite\n",
      },
    },
  },
  verb: "read",
  resource: { kind: "company", from: "params.id", underSiteScope: "filtered" },
});

export const listActivity = endpoint({
  method: "GET",
  path: "/company/{id}/activity-logs",
  tag: "Activity log",
  summary: "List a company's activity log",
  description: "Newest first.",
  params: Type.Object({ id: uuid("Id of the company.") }),
  query: Type.Object({
    limit: limit("Maximum number of entries; values above 100 count as 100.", { default: 10 }),
    offset,
    before: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          "Only entries with lower ids, which are older. For the next page, send the `id` of the last entry: new entries then don't shift the pages, as they do with `offset`. `total` counts all matches, also those that are not older.",
        examples: [4711],
      }),
    ),
    category: Type.Optional(Type.Enum(activityCategories, { description: "Only entries of this category." })),
    site_id: Type.Optional(Type.String({ maxLength: 100, description: "Only entries about this site." })),
    id_initiated_by: Type.Optional(Type.String({ maxLength: 100, description: "Only actions of this user." })),
    id_api_key: Type.Optional(Type.String({ maxLength: 100, description: "Only actions with this API key." })),
    language: Type.Optional(Type.Enum(languages, { default: "en", description: "Language of the descriptions." })),
  }),
  responses: {
    200: result(
      ["company", "activity_logs"],
      "The entries.",
      Type.Object({
        items: Type.Array(ActivityEntry),
        total: Type.Integer({ minimum: 0, description: "Number of matches before paging.", examples: [1] }),
      }),
    ),
  },
  verb: "read",
  resource: { kind: "company", from: "params.id", underSiteScope: "filtered" },
});
