/** Updates of WordPress itself. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { nullable, pattern, uuid } from "../schema.ts";

const byId = Type.Object({ env_id: uuid("Id of the environment.") });

const WordPressVersions = Type.Object(
  {
    id: uuid("Id of the environment."),
    wordpress_version: nullable(
      Type.String({ description: "The installed version, or null if there is no WordPress.", examples: ["7.1.1"] }),
    ),
    update_versions: Type.Array(Type.String(), {
      description: "Versions of the available updates, newest first.",
      examples: [["7.2", "7.1.2"]],
    }),
    problem: nullable(Type.String({ description: "Why updates could not be checked, or null." })),
  },
  { title: "WordPressVersions" },
);

export const getWordPress = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/wordpress",
  tag: "Plugins and themes",
  summary: "Get the WordPress version and its available updates",
  description:
    "Asks the package source for updates. If it does not respond in time, no updates are listed and `problem` says so.",
  params: byId,
  responses: {
    200: result(["environment"], "The versions.", WordPressVersions),
  },
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});

export const updateWordPress = endpoint({
  method: "PUT",
  path: "/sites/environments/{env_id}/wordpress",
  tag: "Plugins and themes",
  summary: "Update WordPress",
  description:
    "Updates a copy of the site and tests it before it goes live. WordPress is downloaded and checked, and the copy and its database are upgraded. Its front page, login page, dashboard and the pages of `update-checks` must load without an error. Then a backup is made, and the copy replaces the site. If anything fails, the site stays as it was. Visitors can keep reading; writes are refused during the test, which takes a few seconds, or a minute or two if many screenshots are taken (`picture_threshold`). The operation also fails if it had to wait and WordPress has been updated meanwhile. In a network, the main site's database is upgraded at once, and that of each other site when its dashboard is opened. `data.result` is `{from, to}`; `from` is the version that was replaced.",
  params: byId,
  body: Type.Object(
    {
      update_version: Type.String({
        maxLength: 60,
        pattern: pattern("^\\d+\\.\\d+(\\.\\d+)?(-\\w+)?$", "must be a version of WordPress such as 7.1.2"),
        description:
          "The version to install. It must be offered by the package source and newer than the installed version.",
        examples: ["7.1.2"],
      }),
    },
    { title: "WordPressUpdate" },
  ),
  responses: { 202: { description: "WordPress is being updated.", body: Accepted } },
  refusals: ["no_package_source", "no_wordpress", "version_not_newer", "version_not_offered"],
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
  operation: "updateWordPress",
});
