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
      "must be a path such as /checkout/; percent-encode characters other than visible ASCII",
    ),
    examples: ["/checkout/"],
  }),
  {
    maxItems: 20,
    description:
      "Paths, optionally with a query. Each page, and pages it redirects to on the same site, must load without an error and with a status below 400.",
  },
);

const pictureThreshold = nullable(
  Type.Integer({
    minimum: 0,
    maximum: 100,
    description:
      "Takes screenshots of the front page and these pages before and after an update, without running scripts. The update is refused if any screenshot differs by more than this percentage. A screenshot shows the top of the page, 1,280 by 1,600 pixels. Taking them takes about four seconds per page, during which writes are refused. Null: no screenshots.",
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
  summary: "Get the pages that updates are tested with",
  description: "In addition to the front page, the login page and the dashboard, which are always tested.",
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
  summary: "Set the pages that updates are tested with",
  description:
    "Replaces the whole setting: without `picture_threshold`, no screenshots are taken. Name important pages, such as a shop's checkout. Applies to updates requested from now on. The setting belongs to the environment; clones start without it.",
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
