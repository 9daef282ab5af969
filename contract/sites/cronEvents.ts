/** Scheduled tasks of WordPress (WP-Cron), and their last run. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { limit, nullable, offset, uuid } from "../schema.ts";

const timestamp = (description: string) =>
  Type.Integer({ description: `${description} Milliseconds since 1970.`, examples: [1_795_375_800_000] });

const CronEvent = Type.Object(
  {
    hook: Type.String({ description: "The WordPress hook.", examples: ["wp_version_check"] }),
    site: nullable(
      Type.String({
        description: "In a network: host and path of the site that it belongs to. Null without a network.",
        examples: [null, "demo.example.com/shop/"],
      }),
    ),
    next_run_at: timestamp("When it is due."),
    recurrence: nullable(
      Type.String({ description: "Name of its schedule, or null if it runs once.", examples: ["twicedaily"] }),
    ),
    interval_seconds: nullable(
      Type.Integer({ description: "Time between two runs in seconds, or null if it runs once.", examples: [43_200] }),
    ),
    args: Type.String({ description: "Arguments of the hook, as a JSON array.", examples: ["[42]"] }),
  },
  { title: "CronEvent" },
);

const CronRun = Type.Object(
  {
    began_at: timestamp("When it began."),
    ended_at: nullable(timestamp("When it ended; null while it runs or if it was interrupted.")),
    error: nullable(
      Type.String({
        description: "Errors with the hooks that caused them, or null.",
        examples: [null, "send_newsletter: RuntimeException: No mail server"],
      }),
    ),
  },
  { title: "CronRun", description: "The last run of due tasks." },
);

export const listCronEvents = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/cron-events",
  tag: "Environments",
  summary: "List an environment's scheduled tasks (WP-Cron)",
  description:
    "Lists the scheduled tasks of WordPress and its plugins, next one first, with the outcome of the last run. Due tasks run within a minute, even without visitors.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  query: Type.Object({ limit: limit("Maximum number of tasks. Default: all."), offset }),
  responses: {
    200: result(
      ["environment"],
      "The scheduled tasks.",
      Type.Object({
        id: uuid("Id of the environment."),
        cron_events: Type.Array(CronEvent),
        total: Type.Integer({ description: "Number of tasks before paging.", examples: [12] }),
        last_run: nullable(CronRun),
        problem: nullable(
          Type.String({
            description: "Why some tasks can't be read and are not run, or null.",
            examples: [null, "WordPress's list of planned events (the option `cron`) is damaged."],
          }),
        ),
      }),
    ),
  },
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});
