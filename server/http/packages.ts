import * as packages from "@sitewright/server/app/packages.ts";
import { update, updateSeveral } from "@sitewright/server/app/packageUpdates.ts";
import * as updateChecks from "@sitewright/server/app/updateChecks.ts";
import * as vulnerabilities from "@sitewright/server/app/vulnerabilities.ts";
import { accepted, type HandlersOf } from "./handling.ts";

const successor = (path: string) => ({ deprecation: "true", link: `<${path}>; rel="successor-version"` });

function asPlugin({ id, site_display_name, display_name, auto_update_type, ...one }: packages.PackageInEnvironment) {
  return {
    id,
    site_display_name,
    display_name,
    plugin_status: one.status,
    plugin_update: one.update,
    plugin_version: one.version,
    is_plugin_version_vulnerable: one.is_version_vulnerable,
    plugin_update_version: one.update_version,
    is_plugin_update_version_vulnerable: one.is_update_version_vulnerable,
    plugin_update_status: one.update_status,
    auto_update_type,
  };
}

function asTheme({ id, site_display_name, display_name, auto_update_type, ...one }: packages.PackageInEnvironment) {
  return {
    id,
    site_display_name,
    display_name,
    theme_status: one.status,
    theme_update: one.update,
    theme_version: one.version,
    is_theme_version_vulnerable: one.is_version_vulnerable,
    theme_update_version: one.update_version,
    is_theme_update_version_vulnerable: one.is_update_version_vulnerable,
    theme_update_status: one.update_status,
    auto_update_type,
  };
}

export const packageHandlers: HandlersOf<
  | "listCompanyPlugins"
  | "listCompanyThemes"
  | "listPlugins"
  | "listThemes"
  | "listPluginsOfContainer"
  | "listThemesOfContainer"
  | "updatePlugin"
  | "updatePlugins"
  | "updateTheme"
  | "updateThemes"
  | "listVulnerabilities"
  | "getUpdateChecks"
  | "replaceUpdateChecks"
> = {
  getUpdateChecks: async (context, { params }) => ({
    status: 200,
    body: { environment: await updateChecks.get(context, params.env_id) },
  }),
  replaceUpdateChecks: async (context, { params, body }) => ({
    status: 200,
    body: { environment: await updateChecks.replace(context, params.env_id, body.update_checks) },
  }),
  listVulnerabilities: async (context, { query }) => ({
    status: 200,
    body: { company: { vulnerabilities: await vulnerabilities.list(context, query) } },
  }),
  updatePlugin: async (context, { params, body }) =>
    accepted("updatePlugin", await update(context, params.env_id, "plugin", body)),
  updateTheme: async (context, { params, body }) =>
    accepted("updateTheme", await update(context, params.env_id, "theme", body)),
  updatePlugins: async (context, { params, body }) => ({
    ...accepted("updatePlugins", await updateSeveral(context, params.env_id, "plugin", body.plugins)),
    status: 200,
  }),
  updateThemes: async (context, { params, body }) => ({
    ...accepted("updateThemes", await updateSeveral(context, params.env_id, "theme", body.themes)),
    status: 200,
  }),
  listCompanyPlugins: async (context, { query }) => {
    const { items, ...envelope } = await packages.listOfCompany(context, "plugin", query);
    const plugins = items.map((one) => ({ ...one, environments: one.environments.map(asPlugin) }));
    return { status: 200, body: { company: { plugins: { ...envelope, items: plugins } } } };
  },
  listCompanyThemes: async (context, { query }) => {
    const { items, ...envelope } = await packages.listOfCompany(context, "theme", query);
    const themes = items.map((one) => ({ ...one, environments: one.environments.map(asTheme) }));
    return { status: 200, body: { company: { themes: { ...envelope, items: themes } } } };
  },
  listPlugins: async (context, { params, query }) => {
    const { containerId: _, ...plugins } = await packages.list(context, params.env_id, "plugin", query);
    return { status: 200, body: { environment: { plugins } } };
  },
  listThemes: async (context, { params, query }) => {
    const { containerId: _, ...themes } = await packages.list(context, params.env_id, "theme", query);
    return { status: 200, body: { environment: { themes } } };
  },
  listPluginsOfContainer: async (context, { params }) => {
    const { containerId, items } = await packages.list(context, params.env_id, "plugin", {});
    const container_info = { id: containerId, wp_plugins: { data: items } };
    const headers = successor(`/v2/sites/environments/${params.env_id}/wp-plugins`);
    return { status: 200, body: { environment: { id: params.env_id, container_info } }, headers };
  },
  listThemesOfContainer: async (context, { params }) => {
    const { containerId, items } = await packages.list(context, params.env_id, "theme", {});
    const container_info = { id: containerId, wp_themes: { data: items } };
    const headers = successor(`/v2/sites/environments/${params.env_id}/wp-themes`);
    return { status: 200, body: { environment: { id: params.env_id, container_info } }, headers };
  },
};
