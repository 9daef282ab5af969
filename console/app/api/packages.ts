/** Plugins, themes and WordPress itself, with their updates. */
import { queryOptions } from "@tanstack/react-query";
import { answerOf, api, type Schemas } from "./client.ts";

export type Package = Schemas["EnvironmentPackage"];
export type PackageKind = "plugins" | "themes";

export const packagesQuery = (environmentId: string, kind: PackageKind) =>
  queryOptions({
    queryKey: ["sites", kind, environmentId],
    queryFn: async ({ signal }) => {
      const params = { path: { env_id: environmentId } };
      if (kind === "themes") {
        const { environment } = await answerOf(api.GET("/sites/environments/{env_id}/wp-themes", { params, signal }));
        return environment.themes;
      }
      const { environment } = await answerOf(api.GET("/sites/environments/{env_id}/wp-plugins", { params, signal }));
      return environment.plugins;
    },
  });

export const wordpressQuery = (environmentId: string) =>
  queryOptions({
    queryKey: ["sites", "wordpress", environmentId],
    queryFn: async ({ signal }) => {
      const params = { path: { env_id: environmentId } };
      return (await answerOf(api.GET("/sites/environments/{env_id}/wordpress", { params, signal }))).environment;
    },
  });

/** Updates all of them together, or none. */
export function updatePackages(environmentId: string, kind: PackageKind, names: readonly string[]) {
  const params = { path: { env_id: environmentId } };
  const packages = names.map((name) => ({ name }));
  return kind === "plugins"
    ? answerOf(api.PUT("/sites/environments/{env_id}/plugins/bulk-update", { params, body: { plugins: packages } }))
    : answerOf(api.PUT("/sites/environments/{env_id}/themes/bulk-update", { params, body: { themes: packages } }));
}

export function updateWordPress(environmentId: string, version: string) {
  const params = { path: { env_id: environmentId } };
  const body = { update_version: version };
  return answerOf(api.PUT("/sites/environments/{env_id}/wordpress", { params, body }));
}
