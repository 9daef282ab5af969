/** What was done, by whom. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { activityCategories } from "../operationKinds.ts";
import { limit, nullable, offset, uuid } from "../schema.ts";

export const languages = ["da", "de", "en", "es", "fr", "it", "ja", "nl", "pt", "sv"] as const;
export type Language = (typeof languages)[number];

/** The kinds of entry there are; an open set for clients, a closed one here. */
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
  "changeEnvironmentPhpAllocation",
  "changeSitePhpAllocation",
  "changeEnvironmentLimits",
  "restartPhp",
  "clearCache",
  "clearEdgeCache",
  "updateEdgeCacheStatus",
  "replaceDeniedIps",
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
  "createApiKey",
  "revokeApiKey",
] as const;
export type ActivityType = (typeof activityTypes)[number];

const optionalText = (example: string) => nullable(Type.String({ examples: [example] }));

const ActivityEntry = Type.Object(
  {
    id: Type.Integer({ description: "Rises with time.", examples: [4711] }),
    site_id: nullable(uuid("The site that it concerns.")),
    created_at: Type.Number({ description: "Milliseconds since 1970.", examples: [1795190400000] }),
    is_done: Type.Boolean({ description: "False while the work is in progress." }),
    has_failed: Type.Boolean(),
    has_warning: Type.Boolean(),
    type: Type.String({
      description: `More may be added; currently: ${activityTypes.join(", ")}.`,
      examples: ["addSite"],
    }),
    public_error: nullable(Type.String({ description: "Why it failed." })),
    ip_address: optionalText("203.0.113.7"),
    initiated_by: nullable(
      Type.Object({
        id: uuid("The user."),
        role: nullable(
          Type.String({
            description: "The role at that time: owner, admin, developer or billing.",
            examples: ["owner"],
          }),
        ),
        full_name: optionalText("Ada Lovelace"),
        first_name: optionalText("Ada"),
      }),
    ),
    user_agent_info: nullable(
      Type.Object({
        browser_name: optionalText("Firefox"),
        browser_version: optionalText("140.0"),
        os_name: optionalText("Linux"),
      }),
    ),
    api_key_info: nullable(Type.Object({ id: uuid("The API key that was used."), name: optionalText("Deploy") })),
    descriptions: nullable(
      Type.Array(Type.String(), {
        description: "What was done, in the requested language.",
        examples: [["Add the site “Demo”"]],
      }),
    ),
  },
  { title: "ActivityEntry" },
);

export const listActivity = endpoint({
  method: "GET",
  path: "/company/{id}/activity-logs",
  tag: "Activity log",
  summary: "List a company's activity log",
  description: "Newest first. `total` is the exact number of matches before paging.",
  params: Type.Object({ id: uuid("Id of the company.") }),
  query: Type.Object({
    limit: limit("Maximum number of entries; values above 100 count as 100.", { default: 10 }),
    offset,
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
        total: Type.Integer({ minimum: 0 }),
      }),
    ),
  },
  verb: "read",
  resource: { kind: "company", from: "params.id", underSiteScope: "filtered" },
});
