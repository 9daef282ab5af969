import * as packages from "@sitewright/server/app/packages/packages.ts";
import type { SomeResponseHandlers } from "../handling.ts";
import { asPlugin, asTheme, bodyOf, write } from "./companyPackages.ts";

const successor = (path: string) => ({ deprecation: "true", link: `<${path}>; rel="successor-version"` });

export const packageResponseHandlers = {
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
} satisfies SomeResponseHandlers;
