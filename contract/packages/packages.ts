/** Plugins and themes: which there are in which environment, and where there is a newer version of them. */
import { type TObject, Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { limit, nullable, offset, uuid } from "../schema.ts";

const moment = (description: string) =>
  Type.String({ format: "date-time", description, examples: ["2026-11-23T08:00:00.000Z"] });

export const packageStatuses = ["active", "inactive"] as const;
export const packageColumns = ["vulnerable", "updatesAvailable"] as const;
export const updateStatuses = ["updated", "updating", "failed"] as const;

const filters = {
  status: Type.Optional(
    Type.Enum(packageStatuses, {
      description: "Only plugins or themes that are active, or inactive, in some environment.",
    }),
  ),
  column: Type.Optional(
    Type.Enum(packageColumns, {
      description: "Only those with a known vulnerability, or with an available update.",
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
          description: "Sort by slug, by number of environments, or by number of environments with an update.",
        }),
        order: Type.Optional(Type.Enum(["ascend", "descend"], { default: "ascend" })),
      },
      { description: "In a query as JSON, or as `order_by[field]=…&order_by[order]=…`. Default: by slug." },
    ),
  ),
  limit: limit("Maximum number. Default: all."),
  offset,
});

const slug = Type.String({ description: "Slug.", examples: ["akismet"] });
const title = Type.String({ examples: ["Akismet Anti-spam"] });
const version = Type.String({ description: "Empty if it declares none.", examples: ["5.6"] });
const isVulnerable = (which: string) =>
  Type.Boolean({
    description: `Whether the vulnerability feed lists a vulnerability of ${which}. Not checked at all if checks.vulnerabilities.checked_at is null.`,
  });
const autoUpdate = Type.String({
  description:
    "Automatic updates: `Provider Automatic Update` (by Sitewright), `WordPress` (by WordPress itself) or `disabled`.",
  examples: ["disabled"],
});
const availability = Type.Enum(["available", "none"], { description: "Whether an update is available." });
const updateVersion = nullable(Type.String({ description: "Null: no update is available.", examples: ["5.7"] }));
const updateStatus = nullable(
  Type.Enum(updateStatuses, { description: "Outcome of its last update, or null if it was never updated here." }),
);
const state = Type.Enum(packageStatuses);

const EnvironmentPackage = Type.Object(
  {
    name: slug,
    title,
    description: Type.String(),
    status: state,
    version,
    update: availability,
    update_version: updateVersion,
    update_status: updateStatus,
    is_version_vulnerable: isVulnerable("the installed version"),
    is_update_version_vulnerable: isVulnerable("the newer version"),
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

const whose = {
  id: uuid("Id of the environment."),
  site_display_name: Type.String({ examples: ["Demo"] }),
  display_name: Type.String({ description: "Of the environment.", examples: ["Live"] }),
};

const PluginOfEnvironment = Type.Object(
  {
    ...whose,
    plugin_status: state,
    plugin_update: availability,
    plugin_version: version,
    is_plugin_version_vulnerable: isVulnerable("the installed version"),
    plugin_update_version: updateVersion,
    is_plugin_update_version_vulnerable: isVulnerable("the newer version"),
    plugin_update_status: updateStatus,
    auto_update_type: autoUpdate,
  },
  { title: "PluginOfEnvironment" },
);

const ThemeOfEnvironment = Type.Object(
  {
    ...whose,
    theme_status: state,
    theme_update: availability,
    theme_version: version,
    is_theme_version_vulnerable: isVulnerable("the installed version"),
    theme_update_version: updateVersion,
    is_theme_update_version_vulnerable: isVulnerable("the newer version"),
    theme_update_status: updateStatus,
    auto_update_type: autoUpdate,
  },
  { title: "ThemeOfEnvironment" },
);

const count = (description: string) => Type.Integer({ minimum: 0, description });

function companyPackage<Environment extends TObject>(name: string, environment: Environment) {
  return Type.Object(
    {
      name: slug,
      title,
      description: Type.String(),
      latest_version: Type.String({
        description:
          "The newest version at the package source, or the newest installed one if the source does not have it.",
        examples: ["5.7"],
      }),
      is_latest_version_vulnerable: isVulnerable("that version"),
      environment_count: count("Number of environments that have it."),
      update_count: count("Number of environments with an available update."),
      environments: Type.Array(environment),
    },
    { title: name },
  );
}

const check = (what: string) =>
  Type.Object({
    checked_at: nullable(moment(`When ${what} were last checked, or null if never.`)),
    problem: nullable(
      Type.String({
        description: "Why they are not checked, or why the last check failed; null after a successful check.",
        examples: ["Vulnerabilities are not checked: there is no vulnerability feed. Set SITEWRIGHT_ADVISORIES."],
      }),
    ),
  });

const checks = Type.Object(
  { updates: check("updates"), vulnerabilities: check("vulnerabilities") },
  {
    title: "PackageChecks",
    description:
      "When updates and vulnerabilities were last checked. While `checked_at` is null, `update: none` and `is_version_vulnerable: false` mean nothing.",
  },
);

const envelope = {
  checks,
  total: count("Number of matches before paging."),
  last_updated_at: moment(
    "When the list was read from the environments; the oldest time if they were read at different times.",
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
    "Each plugin once, with all environments that have it. Parameters may also be sent as a JSON body. A plugin is listed if at least one environment matches the filter. `total` is the number of matches.",
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
    "Each theme once, with all environments that have it. Parameters may also be sent as a JSON body. A theme is listed if at least one environment matches the filter. `total` is the number of matches.",
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
  last_updated_at: moment("When they were read."),
  problem: nullable(
    Type.String({ description: "What could not be read, or null. If set, which ones are active is uncertain." }),
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
