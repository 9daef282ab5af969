/** Newer versions of plugins and themes. */
import { Type } from "typebox";
import { endpoint } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { line, uuid } from "../schema.ts";

const environmentId = Type.Object({ env_id: uuid("Id of the environment.") });
const inEnvironment = { kind: "environment", from: "params.env_id" } as const;
const installedSlug = line(200, "Slug of one that is installed.", "akismet");

export const PackageUpdate = Type.Object(
  {
    name: installedSlug,
    update_version: line(
      60,
      "The version to have: one that the package source offers, newer than the one there.",
      "5.7",
    ),
  },
  { title: "PackageUpdate" },
);

const howItIsDone =
  "It is fetched and looked through first. Then everything that the environment has is copied, the copy gets the new version, and its front page, login page and dashboard are tried out; visitors go on reading meanwhile, and what they would write is refused until the copy has been tried out: for some seconds, and for a minute or two where pictures of many pages are taken (`picture_threshold`). A backup is made, and the copy takes the site's place. Where anything is wrong, the site stays what it was, and the operation fails with PHP's own error as the reason. It fails, too, where it had to wait in line and finds that what it is about was removed, or is as new by then. `data.result` is `{updated: [{name, from, to}]}`; `from` is the version that was replaced.";

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
  "Each gets the newest version that is known to be offered (`update_version` in the lists); those that have it already are left out. All of them are updated together, or none.";

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
