/** Newer versions of WordPress itself. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { line, nullable, uuid } from "../schema.ts";

const byId = Type.Object({ env_id: uuid("Id of the environment.") });

const WordPressVersions = Type.Object(
  {
    id: uuid("Id of the environment."),
    wordpress_version: nullable(Type.String({ description: "Null: it has no WordPress.", examples: ["7.1.1"] })),
    update_versions: Type.Array(Type.String(), {
      description: "Available updates, newest first.",
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
  summary: "Get WordPress's version and its updates",
  description: "Asks the package source. If it does not answer in time, no update is listed and `problem` says so.",
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
    "Downloads and checks WordPress first. Then the environment is copied, the copy is updated and its database upgraded, and its front page, login page and dashboard are tested. Visitors can keep reading; writes are refused during the test, which takes some seconds, or a minute or two if many screenshots are taken (`picture_threshold`). A backup is made, and the copy replaces the site. If anything fails, the site stays as it was; so it does if the update had to wait and WordPress is up to date by then. `data.result` is `{from, to}`; `from` is the version that was replaced. In a network, the main site's database is upgraded, and each other site's when its dashboard is opened.",
  params: byId,
  body: Type.Object(
    {
      update_version: line(
        60,
        "The version to install: one that the package source offers, newer than the installed one.",
        "7.1.2",
      ),
    },
    { title: "WordPressUpdate" },
  ),
  responses: { 202: { description: "WordPress is being updated.", body: Accepted } },
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
  operation: "updateWordPress",
});
