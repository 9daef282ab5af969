/** Newer versions of one plugin or theme for many environments: some first, then the others, until too many fail. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { limit, line, nullable, offset, uuid } from "../schema.ts";

const byCompany = Type.Object({ id: uuid("Id of the company.") });
const byRollout = Type.Object({ id: uuid("Id of the company."), rollout_id: uuid("Id of the rollout.") });
const ofCompany = { kind: "company", from: "params.id", underSiteScope: "closed" } as const;

const type = Type.Enum(["plugin", "theme"]);
const name = line(200, "Slug.", "akismet");
const moment = (description: string) =>
  Type.String({ format: "date-time", description, examples: ["2026-11-23T08:00:00.000Z"] });
const count = (description: string) => Type.Integer({ minimum: 0, description });

export const RolloutWish = Type.Object(
  {
    type,
    name,
    update_version: Type.Optional(
      line(60, "The version to have. Left out: for each environment the newest that is offered for it.", "5.7"),
    ),
    environments: Type.Optional(
      Type.Array(uuid("Id of an environment."), {
        minItems: 1,
        maxItems: 5_000,
        description:
          "Those that get it, in this order. Left out: all of the company for which it is newer, live ones last.",
      }),
    ),
    concurrency: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 20, default: 4, description: "How many are updated at the same time." }),
    ),
    canaries: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        default: 1,
        description:
          "So many are updated before the others, which are begun when all of these went well. Where one is skipped, another takes its place; where one fails, no other is begun.",
      }),
    ),
    stop_after_failures: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 5_000,
        default: 1,
        description: "After so many failures no other is begun.",
      }),
    ),
  },
  { title: "RolloutWish" },
);

const counts = Type.Object(
  {
    waiting: count("Their turn is still to come."),
    running: count("They are being updated."),
    updated: count("They have the new version."),
    failed: count("They are what they were; `reason` says why."),
    skipped: count("There was nothing to be done, or it was not begun any more; `reason` says why."),
  },
  { description: "How many environments are how far." },
);

const facts = {
  id: uuid("Id of the rollout."),
  type,
  name,
  update_version: nullable(
    Type.String({ description: "Null: for each environment the newest that is offered for it." }),
  ),
  concurrency: count("How many are updated at the same time."),
  canaries: count("How many are updated before the others."),
  stop_after_failures: count("After so many failures no other is begun."),
  state: Type.Enum(["running", "stopped", "cancelled", "ended"], {
    description: "`stopped`: after too many failures. What was begun goes on until `ended_at`.",
  }),
  created_at: moment("When it was asked for."),
  ended_at: nullable(moment("When the last update had ended. Null: it has not.")),
  counts,
};

const RolloutItem = Type.Object(
  {
    id: uuid("Id of the environment."),
    site_display_name: Type.String({ examples: ["Demo"] }),
    display_name: Type.String({ description: "Of the environment.", examples: ["Live"] }),
    is_canary: Type.Boolean(),
    state: Type.Enum(["waiting", "running", "updated", "failed", "skipped"]),
    version: nullable(Type.String({ description: "That it had before. Null: nothing was begun." })),
    update_version: nullable(Type.String({ description: "That it gets. Null: nothing was begun." })),
    operation_id: nullable(Type.String({ description: "Of the update. Null: nothing was begun." })),
    reason: nullable(Type.String({ description: "Why it failed, or was skipped." })),
    ended_at: nullable(moment("When it had ended. Null: it has not.")),
  },
  { title: "RolloutItem" },
);

const Rollout = Type.Object({ ...facts, environments: Type.Array(RolloutItem) }, { title: "Rollout" });
const RolloutSummary = Type.Object(facts, { title: "RolloutSummary" });

export const createRollout = endpoint({
  method: "POST",
  path: "/company/{id}/rollouts",
  tag: "Plugins and themes",
  summary: "Update one plugin or theme in many environments",
  description:
    "Each environment is updated by an operation of its own, as if that had been asked for alone: tried out beside the site, with a backup before, and left as it is where anything is wrong. Those that are busy have their turn later.",
  params: byCompany,
  body: RolloutWish,
  responses: { 201: result(["rollout"], "The rollout.", Rollout) },
  verb: "write",
  resource: ofCompany,
  changesLive: true,
});

export const listRollouts = endpoint({
  method: "GET",
  path: "/company/{id}/rollouts",
  tag: "Plugins and themes",
  summary: "List the rollouts",
  description:
    "The newest first, without their environments. Those that ended more than 30 days ago are not kept. `total` counts them before paging.",
  params: byCompany,
  query: Type.Object({ limit: limit("How many at most; above 500 counts as 500.", { default: 100 }), offset }),
  responses: {
    200: result(
      ["company", "rollouts"],
      "The rollouts.",
      Type.Object({ items: Type.Array(RolloutSummary), total: count("How many there are.") }),
    ),
  },
  verb: "read",
  resource: ofCompany,
});

export const getRollout = endpoint({
  method: "GET",
  path: "/company/{id}/rollouts/{rollout_id}",
  tag: "Plugins and themes",
  summary: "How far a rollout is",
  description: "With what became of it in each environment. Those that were deleted since are left out.",
  params: byRollout,
  responses: { 200: result(["rollout"], "The rollout.", Rollout) },
  verb: "read",
  resource: ofCompany,
});

export const cancelRollout = endpoint({
  method: "POST",
  path: "/company/{id}/rollouts/{rollout_id}/cancel",
  tag: "Plugins and themes",
  summary: "Cancel a rollout",
  description: "No other environment is begun with. What was begun goes on, and one that has ended stays as it is.",
  params: byRollout,
  responses: { 200: result(["rollout"], "The rollout.", Rollout) },
  verb: "write",
  resource: ofCompany,
});
