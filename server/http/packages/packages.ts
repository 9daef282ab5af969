import * as automaticUpdates from "@sitewright/server/app/packages/automaticUpdates.ts";
import * as packages from "@sitewright/server/app/packages/packages.ts";
import { update, updateSeveral } from "@sitewright/server/app/packages/packageUpdates.ts";
import * as updateChecks from "@sitewright/server/app/packages/updateChecks.ts";
import * as vulnerabilities from "@sitewright/server/app/packages/vulnerabilities.ts";
import * as wordpressUpdates from "@sitewright/server/app/packages/wordpressUpdates.ts";
import { accepted, type HandlersOf } from "../handling.ts";
import { asPlugin, asTheme, bodyOf, write } from "./companyPackages.ts";

const successor = (path: string) => ({ deprecation: "true", link: `<${path}>; rel="successor-version"` });

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
  | "getWordPress"
  | "updateWordPress"
  | "getAutomaticUpdates"
  | "replaceAutomaticUpdates"
> = {
  getUpdateChecks: async (context, { params }) => ({
    status: 200,
    body: { environment: await updateChecks.get(context, params.env_id) },
  }),
  replaceUpdateChecks: async (context, { params, body }) => ({
    status: 200,
    body: { environment: await updateChecks.replace(context, params.env_id, body) },
  }),
  getWordPress: async (context, { params }) => ({
    status: 200,
    body: { environment: await wordpressUpdates.get(context, params.env_id) },
  }),
  updateWordPress: async (context, { params, body }) =>
    accepted("updateWordPress", await wordpressUpdates.update(context, params.env_id, body.update_version)),
  getAutomaticUpdates: async (context, { params }) => ({
    status: 200,
    body: { environment: await automaticUpdates.get(context, params.env_id) },
  }),
  replaceAutomaticUpdates: async (context, { params, body }) => ({
    status: 200,
    body: { environment: await automaticUpdates.replace(context, params.env_id, body) },
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
    const page = await packages.listOfCompany(context, "plugin", query);
    return {
      status: 200,
      get body() {
        return { company: { plugins: bodyOf(page, asPlugin) } };
      },
      parts: write(page, "plugins", asPlugin),
    };
  },
  listCompanyThemes: async (context, { query }) => {
    const page = await packages.listOfCompany(context, "theme", query);
    return {
      status: 200,
      get body() {
        return { company: { themes: bodyOf(page, asTheme) } };
      },
      parts: write(page, "themes", asTheme),
    };
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
