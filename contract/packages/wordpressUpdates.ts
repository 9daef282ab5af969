/** Newer versions of WordPress itself. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { line, nullable, uuid } from "../schema.ts";

const byId = Type.Object({ env_id: uuid("Id of the environment.") });

const WordPressVersions = Type.Object(
  {
    id: uuid("Id of the environment."),
    wordpress_version: nullable(
      Type.String({ description: "Null: there is no WordPress in it.", examples: ["7.1.1"] }),
    ),
    update_versions: Type.Array(Type.String(), {
      description: "Newer ones that the package source offers for it, the newest first.",
      examples: [["7.2", "7.1.2"]],
    }),
  },
  { title: "WordPressVersions" },
);

export const getWordPress = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/wordpress",
  tag: "Plugins and themes",
  summary: "Which WordPress an environment has, and could have",
  description:
    "The package source is asked at that moment. Where it does not answer in time, no newer version is listed.",
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
    "It is fetched and looked through first. Then everything that the environment has is copied, the copy gets the new version and its database is upgraded, and its front page, login page and dashboard are tried out; visitors go on reading meanwhile, and what they would write is refused until the copy has been tried out: for some seconds, and for a minute or two where pictures of many pages are taken (`picture_threshold`). A backup is made, and the copy takes the site's place. Where anything is wrong, the site stays what it was; so it does where the update had to wait in line and WordPress is as new by then. `data.result` is `{from, to}`; `from` is the version that was replaced. Of a network the main site's database is upgraded, and that of each other one when its dashboard is opened.",
  params: byId,
  body: Type.Object(
    {
      update_version: line(
        60,
        "The version to have: one that the package source offers, newer than the one there.",
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
