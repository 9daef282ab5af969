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
      description: "Only what is in use somewhere, or lies unused somewhere.",
    }),
  ),
  column: Type.Optional(
    Type.Enum(packageColumns, {
      description: "Only what has a known vulnerability, or what a newer version is available of.",
    }),
  ),
};

const companyFilters = Type.Object({
  ...filters,
  search: Type.Optional(
    Type.String({ maxLength: 200, description: "Only those whose slug or title contains it, in whatever case." }),
  ),
  order_by: Type.Optional(
    Type.Object(
      {
        field: Type.Enum(["name", "environments", "updates"], {
          description: "By slug, by how many environments have it, or by how many of these it can be updated in.",
        }),
        order: Type.Optional(Type.Enum(["ascend", "descend"], { default: "ascend" })),
      },
      { description: "In a query as JSON, or as `order_by[field]=…&order_by[order]=…`. Left out: by slug." },
    ),
  ),
  limit: limit("How many at most; without it, all."),
  offset,
});

const slug = Type.String({ description: "Slug.", examples: ["akismet"] });
const title = Type.String({ examples: ["Akismet Anti-spam"] });
const version = Type.String({ description: "Empty where it says none.", examples: ["5.6"] });
const isVulnerable = (which: string) =>
  Type.Boolean({ description: `Whether a vulnerability of ${which} is known to the advisories that are read.` });
const autoUpdate = Type.String({
  description:
    "Who updates it by itself: `Provider Automatic Update`, `WordPress`, where that is set to, or nobody, `disabled`.",
  examples: ["disabled"],
});
const availability = Type.Enum(["available", "none"], { description: "Whether there is a newer version for it." });
const updateVersion = nullable(Type.String({ description: "Null: there is no newer one.", examples: ["5.7"] }));
const updateStatus = nullable(
  Type.Enum(updateStatuses, { description: "What became of its last update. Null: it was never updated from here." }),
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
    is_version_vulnerable: isVulnerable("the version that is installed"),
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
    is_plugin_version_vulnerable: isVulnerable("the version that is installed"),
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
    is_theme_version_vulnerable: isVulnerable("the version that is installed"),
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
        description: "The newest that the package source has; where it does not know it, the newest that is installed.",
        examples: ["5.7"],
      }),
      is_latest_version_vulnerable: isVulnerable("that version"),
      environment_count: count("How many environments have it."),
      update_count: count("In how many of these there is a newer version for it."),
      environments: Type.Array(environment),
    },
    { title: name },
  );
}

const envelope = {
  total: count("How many there are, before paging."),
  last_updated_at: moment("When what is shown was read; of several environments, the one that was read longest ago."),
};

const companyId = Type.Object({ id: uuid("Id of the company.") });
const environmentId = Type.Object({ env_id: uuid("Id of the environment.") });
const inCompany = { kind: "company", from: "params.id", underSiteScope: "filtered" } as const;
const inEnvironment = { kind: "environment", from: "params.env_id" } as const;

export const listCompanyPlugins = endpoint({
  method: "GET",
  path: "/company/{id}/wp-plugins",
  tag: "Plugins and themes",
  summary: "List the plugins of a company",
  description:
    "Each plugin once, with every environment that has it. Parameters are read from a JSON body as well. What is filtered by is whether one environment or more fits; all environments of the plugin are listed then. `total` counts after filters.",
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
  summary: "List the themes of a company",
  description:
    "Each theme once, with every environment that has it. Parameters are read from a JSON body as well. What is filtered by is whether one environment or more fits; all environments of the theme are listed then. `total` counts after filters.",
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
  items: Type.Array(EnvironmentPackage),
  last_updated_at: moment("When they were read."),
  problem: nullable(
    Type.String({ description: "What could not be read then; which ones are in use is not sure. Null: nothing." }),
  ),
});

export const listPlugins = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/wp-plugins",
  tag: "Plugins and themes",
  summary: "List the plugins of an environment",
  description: "By slug. Parameters are read from a JSON body as well.",
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
  summary: "List the themes of an environment",
  description: "By slug. Parameters are read from a JSON body as well.",
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
  summary: "List the plugins of an environment, in the former form",
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
  summary: "List the themes of an environment, in the former form",
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
