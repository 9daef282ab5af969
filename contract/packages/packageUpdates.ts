/** Updates of plugins and themes. */
import { Type } from "typebox";
import { endpoint } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { line, uuid } from "../schema.ts";

const environmentId = Type.Object({ env_id: uuid("Id of the environment.") });
const inEnvironment = { kind: "environment", from: "params.env_id" } as const;
const installedSlug = line(200, "Slug of an installed plugin or theme.", "akismet");

export const PackageUpdate = Type.Object(
  {
    name: installedSlug,
    update_version: line(
      60,
      "The version to install. It must be offered by the package source and newer than the installed version.",
      "5.7",
    ),
  },
  { title: "PackageUpdate" },
);

const procedure =
  "Updates a copy of the site and tests it before it goes live. The package is downloaded and checked, and the copy is updated. Its front page, login page, dashboard and the pages of `update-checks` must load without an error. Then a backup is made, and the copy replaces the site. If anything fails, the site stays as it was, and the operation fails with PHP's own error as the reason. Visitors can keep reading; writes are refused during the test, which takes a few seconds, or a minute or two if many screenshots are taken (`picture_threshold`). The operation also fails if it had to wait and the package has been removed or updated meanwhile. `data.result` is `{updated: [{name, from, to}]}`; `from` is the version that was replaced.";

export const updatePlugin = endpoint({
  method: "PUT",
  path: "/sites/environments/{env_id}/plugins",
  tag: "Plugins and themes",
  summary: "Update a plugin",
  description: procedure,
  params: environmentId,
  body: PackageUpdate,
  responses: { 202: { description: "The plugin is being updated.", body: Accepted } },
  refusals: [
    "no_package_source",
    "package_not_installed",
    "package_updated_elsewhere",
    "package_single_file",
    "version_not_newer",
    "version_not_offered",
  ],
  verb: "write",
  resource: inEnvironment,
  changesLive: true,
  operation: "updatePlugin",
});

export const updateTheme = endpoint({
  method: "PUT",
  path: "/sites/environments/{env_id}/themes",
  tag: "Plugins and themes",
  summary: "Update a theme",
  description: procedure,
  params: environmentId,
  body: PackageUpdate,
  responses: { 202: { description: "The theme is being updated.", body: Accepted } },
  refusals: [
    "no_package_source",
    "package_not_installed",
    "package_updated_elsewhere",
    "version_not_newer",
    "version_not_offered",
  ],
  verb: "write",
  resource: inEnvironment,
  changesLive: true,
  operation: "updateTheme",
});

const packageList = (description: string) =>
  Type.Array(Type.Object({ name: installedSlug }), { minItems: 1, maxItems: 200, description });
const allOrNone =
  "Each one gets the newest available version (`update_version` in the lists); up-to-date ones are skipped. All are updated together, or none.";

export const updatePlugins = endpoint({
  method: "PUT",
  path: "/sites/environments/{env_id}/plugins/bulk-update",
  tag: "Plugins and themes",
  summary: "Update several plugins",
  description: `${allOrNone} ${procedure}`,
  params: environmentId,
  body: Type.Object({ plugins: packageList("The plugins to update.") }, { title: "PluginsUpdate" }),
  responses: { 200: { description: "The plugins are being updated.", body: Accepted } },
  refusals: [
    "no_package_source",
    "package_not_installed",
    "package_updated_elsewhere",
    "package_single_file",
    "nothing_to_update",
    "updates_not_checked",
  ],
  verb: "write",
  resource: inEnvironment,
  changesLive: true,
  operation: "updatePlugins",
});

export const updateThemes = endpoint({
  method: "PUT",
  path: "/sites/environments/{env_id}/themes/bulk-update",
  tag: "Plugins and themes",
  summary: "Update several themes",
  description: `${allOrNone} ${procedure}`,
  params: environmentId,
  body: Type.Object({ themes: packageList("The themes to update.") }, { title: "ThemesUpdate" }),
  responses: { 200: { description: "The themes are being updated.", body: Accepted } },
  refusals: [
    "no_package_source",
    "package_not_installed",
    "package_updated_elsewhere",
    "nothing_to_update",
    "updates_not_checked",
  ],
  verb: "write",
  resource: inEnvironment,
  changesLive: true,
  operation: "updateThemes",
});
