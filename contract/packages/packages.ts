/** Lists of installed plugins and themes with their available updates, by environment and by company. */
import { type TObject, Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { count, dateTime, limit, nullable, offset, uuid } from "../schema.ts";

const packageStatuses = ["active", "inactive"] as const;
const packageColumns = ["vulnerable", "updatesAvailable"] as const;
const updateStatuses = ["updated", "updating", "failed"] as const;

const filters = {
  status: Type.Optional(
    Type.Enum(packageStatuses, {
      description: "Only plugins or themes with this status (in a company's list: in at least one environment).",
    }),
  ),
  column: Type.Optional(
    Type.Enum(packageColumns, {
      description:
        "`vulnerable`: only those with a known vulnerability. `updatesAvailable`: only those with an available update.",
    }),
  ),
};

const companyFilters = Type.Object({
  ...filters,
  search: Type.Optional(
    Type.String({ maxLength: 200, description: "Only those whose slug or title contains this text; case is ignored." }),
  ),
  order_by: Type.Optional(
    Type.Object(
      {
        field: Type.Enum(["name", "environments", "updates"], {
          description:
            "Sort key. `name`: slug. `environments`: number of environments. `updates`: number of environments with an available update.",
        }),
        order: Type.Optional(
          Type.Enum(["ascend", "descend"], { default: "ascend", description: "Sort order: ascending or descending." }),
        ),
      },
      {
        description:
          "How to sort the list. In a query: JSON, or `order_by[field]=…&order_by[order]=…`. Default: by slug.",
      },
    ),
  ),
  limit: limit("Maximum number of items. Default: all."),
  offset,
});

const slug = Type.String({ description: "Slug.", examples: ["akismet"] });
const title = Type.String({ description: "Name, for people.", examples: ["Akismet Anti-spam"] });
const version = Type.String({ description: "Installed version; empty if it declares none.", examples: ["5.6"] });
const isVulnerable = (which: string) =>
  Type.Boolean({
    description: `Whether the vulnerability feed lists a vulnerability of ${which}. Always false while \`checks.vulnerabilities.checked_at\` is null.`,
  });
const autoUpdate = Type.String({
  description:
    "Who updates it automatically: `Provider Automatic Update` (Sitewright), `WordPress` (WordPress itself) or `disabled` (nothing).",
  examples: ["disabled"],
});
const availability = Type.Enum(["available", "none"], { description: "Whether an update is available." });
const updateVersion = nullable(
  Type.String({ description: "The version of the available update, or null.", examples: ["5.7"] }),
);
const updateStatus = nullable(
  Type.Enum(updateStatuses, { description: "State of its last update, or null if it was never updated here." }),
);
const state = Type.Enum(packageStatuses, { description: "Whether it is active in WordPress." });
const text = Type.String({ description: "Its own description.", examples: ["Protects your site from spam."] });

const EnvironmentPackage = Type.Object(
  {
    name: slug,
    title,
    description: text,
    status: state,
    version,
    update: availability,
    update_version: updateVersion,
    update_status: updateStatus,
    is_version_vulnerable: isVulnerable("the installed version"),
    is_update_version_vulnerable: isVulnerable("the available update"),
    auto_update_type: autoUpdate,
  },
  { title: "EnvironmentPackage" },
);

const BriefPackage = Type.Object(
  {
    name: slug,
    title,
    status: state,
    version,
    update: availability,
    update_version: updateVersion,
    update_status: updateStatus,
  },
  { title: "BriefPackage" },
);

const environmentFields = {
  id: uuid("Id of the environment."),
  site_id: uuid("Id of its site."),
  site_display_name: Type.String({ description: "Display name of the site.", examples: ["Demo"] }),
  display_name: Type.String({ description: "Display name of the environment.", examples: ["Live"] }),
};

const PluginOfEnvironment = Type.Object(
  {
    ...environmentFields,
    plugin_status: state,
    plugin_update: availability,
    plugin_version: version,
    is_plugin_version_vulnerable: isVulnerable("the installed version"),
    plugin_update_version: updateVersion,
    is_plugin_update_version_vulnerable: isVulnerable("the available update"),
    plugin_update_status: updateStatus,
    auto_update_type: autoUpdate,
  },
  { title: "PluginOfEnvironment" },
);

const ThemeOfEnvironment = Type.Object(
  {
    ...environmentFields,
    theme_status: state,
    theme_update: availability,
    theme_version: version,
    is_theme_version_vulnerable: isVulnerable("the installed version"),
    theme_update_version: updateVersion,
    is_theme_update_version_vulnerable: isVulnerable("the available update"),
    theme_update_status: updateStatus,
    auto_update_type: autoUpdate,
  },
  { title: "ThemeOfEnvironment" },
);

function companyPackage<Environment extends TObject>(name: string, environment: Environment) {
  return Type.Object(
    {
      name: slug,
      title,
      description: text,
      latest_version: Type.String({
        description:
          "The newest version that the package source offers, or the newest installed version if the source does not offer any.",
        examples: ["5.7"],
      }),
      is_latest_version_vulnerable: isVulnerable("`latest_version`"),
      environment_count: count("Number of environments that have it installed."),
      update_count: count("Number of environments with an available update."),
      environments: Type.Array(environment, { description: "The environments that have it installed." }),
    },
    { title: name },
  );
}

const check = (what: string) =>
  Type.Object({
    checked_at: nullable(dateTime(`When ${what} were last checked, or null if never.`)),
    problem: nullable(
      Type.String({
        description: "Why they are not checked, or why the last check failed; null after a successful check.",
        examples: [null, "Vulnerabilities are not checked: there is no vulnerability feed. Set SITEWRIGHT_ADVISORIES."],
      }),
    ),
  });

export const checks = Type.Object(
  { updates: check("updates"), vulnerabilities: check("vulnerabilities") },
  {
    title: "PackageChecks",
    description:
      "When updates and vulnerabilities were last checked. While a `checked_at` is null, `update: none` or `is_version_vulnerable: false` only mean that nothing has been checked.",
  },
);

const envelope = {
  checks,
  total: count("Number of matches before paging."),
  last_updated_at: dateTime(
    "When the list was read from the environments; if they were read at different times, the earliest one.",
  ),
};

const companyId = Type.Object({ id: uuid("Id of the company.") });
const environmentId = Type.Object({ env_id: uuid("Id of the environment.") });
const inCompany = { kind: "company", from: "params.id", underSiteScope: "filtered" } as const;
const inEnvironment = { kind: "environment", from: "params.env_id" } as const;

export const listCompanyPlugins = endpoint({
  method: "GET",
  path: "/company/{id}/wp-plugins",
  tag: "Plugins and themes",
  summary: "List a company's plugins",
  description:
    "Each plugin is listed once, with all environments that have it, if at least one of them matches the filter. Parameters may also be sent as a JSON body.",
  params: companyId,
  query: companyFilters,
  responses: {
    200: {
      description: "The plugins.",
      body: Type.Object({
        company: Type.Object({
          plugins: Type.Object({
            ...envelope,
            items: Type.Array(companyPackage("CompanyPlugin", PluginOfEnvironment)),
          }),
        }),
      }),
    },
  },
  verb: "read",
  resource: inCompany,
});

export const listCompanyThemes = endpoint({
  method: "GET",
  path: "/company/{id}/wp-themes",
  tag: "Plugins and themes",
  summary: "List a company's themes",
  description:
    "Each theme is listed once, with all environments that have it, if at least one of them matches the filter. Parameters may also be sent as a JSON body.",
  params: companyId,
  query: companyFilters,
  responses: {
    200: {
      description: "The themes.",
      body: Type.Object({
        company: Type.Object({
          themes: Type.Object({
            ...envelope,
            items: Type.Array(companyPackage("CompanyTheme", ThemeOfEnvironment)),
          }),
        }),
      }),
    },
  },
  verb: "read",
  resource: inCompany,
});

const environmentList = Type.Object({
  checks,
  items: Type.Array(EnvironmentPackage),
  last_updated_at: dateTime("When the list was read from the environment."),
  problem: nullable(
    Type.String({
      description: "Why the list could not be read completely, or null. If it is set, `status` may be wrong.",
    }),
  ),
});

export const listPlugins = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/wp-plugins",
  tag: "Plugins and themes",
  summary: "List an environment's plugins",
  description: "Sorted by slug. Parameters may also be sent as a JSON body.",
  params: environmentId,
  query: Type.Object(filters),
  responses: {
    200: result(["environment", "plugins"], "The plugins.", environmentList),
  },
  verb: "read",
  resource: inEnvironment,
});

export const listThemes = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/wp-themes",
  tag: "Plugins and themes",
  summary: "List an environment's themes",
  description: "Sorted by slug. Parameters may also be sent as a JSON body.",
  params: environmentId,
  query: Type.Object(filters),
  responses: {
    200: result(["environment", "themes"], "The themes.", environmentList),
  },
  verb: "read",
  resource: inEnvironment,
});

const container = { id: uuid("Id of its container.") };

export const listPluginsOfContainer = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/plugins",
  tag: "Plugins and themes",
  summary: "List an environment's plugins (old format)",
  description: "Use `GET /sites/environments/{env_id}/wp-plugins` instead.",
  params: environmentId,
  responses: {
    200: {
      description: "The plugins.",
      body: Type.Object({
        environment: Type.Object({
          id: uuid("Id of the environment."),
          container_info: Type.Object({ ...container, wp_plugins: Type.Object({ data: Type.Array(BriefPackage) }) }),
        }),
      }),
    },
  },
  verb: "read",
  resource: inEnvironment,
  deprecated: true,
});

export const listThemesOfContainer = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/themes",
  tag: "Plugins and themes",
  summary: "List an environment's themes (old format)",
  description: "Use `GET /sites/environments/{env_id}/wp-themes` instead.",
  params: environmentId,
  responses: {
    200: {
      description: "The themes.",
      body: Type.Object({
        environment: Type.Object({
          id: uuid("Id of the environment."),
          container_info: Type.Object({ ...container, wp_themes: Type.Object({ data: Type.Array(BriefPackage) }) }),
        }),
      }),
    },
  },
  verb: "read",
  resource: inEnvironment,
  deprecated: true,
});
