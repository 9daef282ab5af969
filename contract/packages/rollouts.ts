/** Rollouts: one plugin or theme is updated in many environments, canaries first, until too many updates fail. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { count, dateTime, limit, line, nullable, offset, uuid } from "../schema.ts";

const byCompany = Type.Object({ id: uuid("Id of the company.") });
const byRollout = Type.Object({ id: uuid("Id of the company."), rollout_id: uuid("Id of the rollout.") });
const ofCompany = { kind: "company", from: "params.id", underSiteScope: "closed" } as const;

const type = Type.Enum(["plugin", "theme"], { description: "Kind of the package to update." });
const name = line(200, "Slug of the plugin or theme.", "akismet");

export const RolloutCreate = Type.Object(
  {
    type,
    name,
    update_version: Type.Optional(
      line(60, "The version to install. Default: the newest available version in each environment.", "5.7"),
    ),
    environments: Type.Optional(
      Type.Array(uuid("Id of an environment."), {
        minItems: 1,
        maxItems: 5_000,
        description:
          "Ids of the environments to update, in this order. Default: all environments of the company in which an update is available, live ones last.",
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
          "Number of environments to update first. The others follow only if all of these updates succeed. A skipped canary is replaced by another environment.",
      }),
    ),
    stop_after_failures: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 5_000,
        default: 1,
        description: "Number of failed updates after which the rollout stops.",
      }),
    ),
  },
  { title: "RolloutCreate" },
);

const counts = Type.Object(
  {
    waiting: count("Not started yet.", 2),
    running: count("Being updated."),
    updated: count("Updated."),
    failed: count("The update failed and the environment is unchanged; see `reason`.", 0),
    skipped: count("Skipped, or not started because the rollout stopped; see `reason`.", 0),
  },
  { description: "Number of environments in each state." },
);

const facts = {
  id: uuid("Id of the rollout."),
  type,
  name,
  update_version: nullable(
    Type.String({ description: "The version to install. Null: the newest available version in each environment." }),
  ),
  concurrency: count("Number of environments updated at the same time.", 4),
  canaries: count("Number of environments updated first."),
  stop_after_failures: count("Number of failed updates after which the rollout stops."),
  state: Type.Enum(["running", "stopped", "cancelled", "ended"], {
    description:
      "`stopped`: too many updates failed. `ended`: no environment is left. In a stopped or cancelled rollout, running updates still finish, at `ended_at`.",
  }),
  created_at: dateTime("When it was requested."),
  ended_at: nullable(dateTime("When its last update ended, or null if it is running.", null)),
  counts,
};

const RolloutItem = Type.Object(
  {
    id: uuid("Id of the environment."),
    site_id: uuid("Id of its site."),
    site_display_name: Type.String({ description: "Display name of the site.", examples: ["Demo"] }),
    display_name: Type.String({ description: "Display name of the environment.", examples: ["Live"] }),
    is_canary: Type.Boolean({ description: "Whether it is one of those updated first.", examples: [true] }),
    state: Type.Enum(["waiting", "running", "updated", "failed", "skipped"], {
      description: "State of its update, as in `counts`.",
      examples: ["updated"],
    }),
    version: nullable(
      Type.String({ description: "The version before the update, or null if it has not started.", examples: ["5.6"] }),
    ),
    update_version: nullable(
      Type.String({ description: "The new version, or null if it has not started.", examples: ["5.7"] }),
    ),
    operation_id: nullable(
      Type.String({
        description: "Id of the update's operation, or null if it has not started.",
        examples: ["wp-plugin:update-54fb80af-576c-4fdc-ba4f-b596c83f15a1"],
      }),
    ),
    reason: nullable(Type.String({ description: "Why it failed or was skipped, or null." })),
    ended_at: nullable(dateTime("When its update ended, or null if it has not.")),
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
    "Starts a rollout: canaries are updated first, then the other environments, until too many updates fail. Each environment is updated by its own operation: tested on a copy, with a backup, and left unchanged if anything fails. Busy environments are updated later.",
  params: byCompany,
  body: RolloutCreate,
  responses: { 201: result(["rollout"], "The rollout has been created.", Rollout) },
  refusals: [
    "no_package_source",
    "unknown_environment",
    "nothing_to_update",
    "updates_not_checked",
    "version_not_offered",
  ],
  verb: "write",
  resource: ofCompany,
  changesLive: true,
});

export const listRollouts = endpoint({
  method: "GET",
  path: "/company/{id}/rollouts",
  tag: "Plugins and themes",
  summary: "List a company's rollouts",
  description: "Newest first, without their environments. Rollouts are deleted 30 days after they end.",
  params: byCompany,
  query: Type.Object({
    limit: limit("Maximum number of rollouts; values above 500 count as 500.", { default: 100 }),
    offset,
  }),
  responses: {
    200: result(
      ["company", "rollouts"],
      "The rollouts.",
      Type.Object({ items: Type.Array(RolloutSummary), total: count("Number of rollouts before paging.") }),
    ),
  },
  verb: "read",
  resource: ofCompany,
});

export const getRollout = endpoint({
  method: "GET",
  path: "/company/{id}/rollouts/{rollout_id}",
  tag: "Plugins and themes",
  summary: "Get a rollout",
  description: "Includes the state of each environment. Environments that have been deleted since are not included.",
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
  description: "No further updates are started; running ones finish. A finished rollout does not change.",
  params: byRollout,
  responses: { 200: result(["rollout"], "The rollout.", Rollout) },
  verb: "write",
  resource: ofCompany,
});
