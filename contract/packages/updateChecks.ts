/** Pages that are asked for before an update takes a site's place. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { nullable, pattern, uuid } from "../schema.ts";

const byId = Type.Object({ env_id: uuid("Id of the environment.") });

const paths = Type.Array(
  Type.String({
    maxLength: 500,
    pattern: pattern(
      "^/[!-~]*$",
      "must be a path such as /checkout/, with what is no visible ASCII character in it encoded",
    ),
    examples: ["/checkout/"],
  }),
  {
    maxItems: 20,
    description:
      "Paths, with a query where there is one. Each, and what it leads to on the same site, must come without an error and with a status below 400.",
  },
);

const pictureThreshold = nullable(
  Type.Integer({
    minimum: 0,
    maximum: 100,
    description:
      "Pictures of the front page and of these are taken before an update and after it, without scripts; an update after which more than so many percent of one of them are another is refused. They show the top of a page, 1,280 points wide and 1,600 high; what is further down is not compared. While they are taken, four seconds a page, what visitors would write is refused. Null: no pictures are taken.",
  }),
);

const UpdateChecks = Type.Object({
  id: uuid("Id of the environment."),
  update_checks: paths,
  picture_threshold: pictureThreshold,
});

export const getUpdateChecks = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/update-checks",
  tag: "Plugins and themes",
  summary: "The pages that an update is tried out with",
  description: "Besides the front page, the login page and the dashboard, which always are.",
  params: byId,
  responses: {
    200: result(["environment"], "The pages.", UpdateChecks),
  },
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});

export const replaceUpdateChecks = endpoint({
  method: "PUT",
  path: "/sites/environments/{env_id}/update-checks",
  tag: "Plugins and themes",
  summary: "Replace the pages that an update is tried out with",
  description:
    "All of it: a list that had other paths has these then, and no pictures are taken where picture_threshold is left out. A shop's checkout, say. Updates that are asked for from then on are tried out with them. The list belongs to the environment; a copy begins without one.",
  params: byId,
  body: Type.Object(
    { update_checks: paths, picture_threshold: Type.Optional(pictureThreshold) },
    { title: "UpdateChecks" },
  ),
  responses: {
    200: result(["environment"], "The pages.", UpdateChecks),
  },
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
});
