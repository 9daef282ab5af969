/** Newer versions of plugins and themes. */
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
      "The version to install: one that the package source offers, newer than the installed one.",
      "5.7",
    ),
  },
  { title: "PackageUpdate" },
);

const howItIsDone =
  "Downloads and checks the package first. Then the environment is copied, the copy is updated, and its front page, login page and dashboard are tested. Visitors can keep reading; writes are refused during the test, which takes some seconds, or a minute or two if many screenshots are taken (`picture_threshold`). A backup is made, and the copy replaces the site. If anything fails, the site stays as it was, and the operation fails with PHP's own error as the reason. It also fails if it had to wait and the package has been removed or updated meanwhile. `data.result` is `{updated: [{name, from, to}]}`; `from` is the version that was replaced.";

export const updatePlugin = endpoint({
  method: "PUT",
  path: "/sites/environments/{env_id}/plugins",
  tag: "Plugins and themes",
  summary: "Update a plugin",
  description: howItIsDone,
  params: environmentId,
  body: PackageUpdate,
  responses: { 202: { description: "The plugin is being updated.", body: Accepted } },
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
  description: howItIsDone,
  params: environmentId,
  body: PackageUpdate,
  responses: { 202: { description: "The theme is being updated.", body: Accepted } },
  verb: "write",
  resource: inEnvironment,
  changesLive: true,
  operation: "updateTheme",
});

const several = Type.Array(Type.Object({ name: installedSlug }), { minItems: 1, maxItems: 200 });
const inOne =
  "Each gets the newest available version (`update_version` in the lists); up-to-date ones are skipped. All are updated together, or none.";

export const updatePlugins = endpoint({
  method: "PUT",
  path: "/sites/environments/{env_id}/plugins/bulk-update",
  tag: "Plugins and themes",
  summary: "Update several plugins",
  description: `${inOne} ${howItIsDone}`,
  params: environmentId,
  body: Type.Object({ plugins: several }, { title: "PluginsUpdate" }),
  responses: { 200: { description: "The plugins are being updated.", body: Accepted } },
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
  description: `${inOne} ${howItIsDone}`,
  params: environmentId,
  body: Type.Object({ themes: several }, { title: "ThemesUpdate" }),
  responses: { 200: { description: "The themes are being updated.", body: Accepted } },
  verb: "write",
  resource: inEnvironment,
  changesLive: true,
  operation: "updateThemes",
});
