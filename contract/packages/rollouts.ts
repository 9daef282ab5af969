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
      line(60, "The version to install. Default: the newest one available for each environment.", "5.7"),
    ),
    environments: Type.Optional(
      Type.Array(uuid("Id of an environment."), {
        minItems: 1,
        maxItems: 5_000,
        description:
          "The environments to update, in this order. Default: all environments of the company that have an update, live ones last.",
      }),
    ),
    concurrency: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 20,
        default: 4,
        description: "Number of environments updated at the same time.",
      }),
    ),
    canaries: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        default: 1,
        description:
          "Number of environments to update first. The others follow only if all of these succeed. A skipped one is replaced by another.",
      }),
    ),
    stop_after_failures: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 5_000,
        default: 1,
        description: "Stop after this many failures.",
      }),
    ),
  },
  { title: "RolloutWish" },
);

const counts = Type.Object(
  {
    waiting: count("Not started yet."),
    running: count("Being updated."),
    updated: count("Updated."),
    failed: count("Failed and unchanged; see `reason`."),
    skipped: count("Skipped, or not started because the rollout stopped; see `reason`."),
  },
  { description: "Number of environments in each state." },
);

const facts = {
  id: uuid("Id of the rollout."),
  type,
  name,
  update_version: nullable(Type.String({ description: "Null: the newest one available for each environment." })),
  concurrency: count("Number of environments updated at the same time."),
  canaries: count("Number of environments updated first."),
  stop_after_failures: count("Stop after this many failures."),
  state: Type.Enum(["running", "stopped", "cancelled", "ended"], {
    description: "`stopped`: after too many failures. Running updates continue until `ended_at`.",
  }),
  created_at: moment("When it was requested."),
  ended_at: nullable(moment("When the last update ended, or null.")),
  counts,
};

const RolloutItem = Type.Object(
  {
    id: uuid("Id of the environment."),
    site_display_name: Type.String({ examples: ["Demo"] }),
    display_name: Type.String({ description: "Of the environment.", examples: ["Live"] }),
    is_canary: Type.Boolean(),
    state: Type.Enum(["waiting", "running", "updated", "failed", "skipped"]),
    version: nullable(Type.String({ description: "The version before the update, or null if it has not started." })),
    update_version: nullable(Type.String({ description: "The new version, or null if it has not started." })),
    operation_id: nullable(Type.String({ description: "The operation of the update, or null if it has not started." })),
    reason: nullable(Type.String({ description: "Why it failed or was skipped." })),
    ended_at: nullable(moment("When it ended, or null.")),
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
    "Each environment is updated by an operation of its own: tested on a copy, with a backup, and left unchanged if anything fails. Busy environments are updated later.",
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
    "Newest first, without their environments. They are deleted 30 days after they end. `total` is their number before paging.",
  params: byCompany,
  query: Type.Object({ limit: limit("Maximum number; values above 500 count as 500.", { default: 100 }), offset }),
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
  description: "With the state of each environment. Environments deleted since are not included.",
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
  description: "No further environment is started. Running updates finish. A finished rollout does not change.",
  params: byRollout,
  responses: { 200: result(["rollout"], "The rollout.", Rollout) },
  verb: "write",
  resource: ofCompany,
});
