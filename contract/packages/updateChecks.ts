/** The pages that an update is tested with before it goes live. */
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
      "Paths of pages, optionally with a query. Each page, and any page on the same site that it redirects to, must load without an error and with a status below 400.",
  },
);

const pictureThreshold = nullable(
  Type.Integer({
    minimum: 0,
    maximum: 100,
    description:
      "Maximum visual difference, in percent. Screenshots of the front page and these pages are taken before and after an update; the update fails if any of them differs by more. Null: no screenshots. A screenshot shows the top 1,280 by 1,600 pixels of a page, without running scripts, and takes about four seconds, during which writes are refused.",
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
  description: "These pages are tested in addition to the front page, the login page and the dashboard.",
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
    "Sets the pages to test in addition to the front page, the login page and the dashboard. Name important ones, such as a shop's checkout. The whole setting is replaced: without `picture_threshold`, no screenshots are taken. It applies to updates that are requested from now on. Clones do not copy it.",
  params: byId,
  body: Type.Object(
    { update_checks: paths, picture_threshold: Type.Optional(pictureThreshold) },
    { title: "UpdateChecks" },
  ),
  responses: {
    200: result(["environment"], "The pages.", UpdateChecks),
  },
  refusals: ["no_browser"],
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
});
