/** What WordPress plans to do by itself (WP-Cron), and how that went last. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { limit, nullable, offset, uuid } from "../schema.ts";

const moment = (description: string) =>
  Type.Integer({ description: `${description} Milliseconds since 1970.`, examples: [1_795_375_800_000] });

export const CronEvent = Type.Object(
  {
    hook: Type.String({ description: "What is done, as WordPress calls it.", examples: ["wp_version_check"] }),
    site: nullable(
      Type.String({
        description: "In a network, the host and path of the site that plans it. Null where there is no network.",
        examples: ["demo.example.com/shop/"],
      }),
    ),
    next_run_at: moment("When it is due."),
    recurrence: nullable(Type.String({ description: "How often it is done. Null: once.", examples: ["twicedaily"] })),
    interval_seconds: nullable(
      Type.Integer({ description: "Between two times. Null where it is done once.", examples: [43_200] }),
    ),
    args: Type.String({ description: "What the hook is given: a list, as JSON.", examples: ["[42]"] }),
  },
  { title: "CronEvent" },
);

export const CronRun = Type.Object(
  {
    began_at: moment("When it began."),
    ended_at: nullable(moment("When it ended. Null while it is under way, and where it was broken off.")),
    error: nullable(
      Type.String({
        description: "What went wrong, and in which hooks. Null: nothing did.",
        examples: ["send_newsletter: RuntimeException: No mail server"],
      }),
    ),
  },
  { title: "CronRun" },
);

export const listCronEvents = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/cron-events",
  tag: "Environments",
  summary: "List the events that WordPress has planned",
  description:
    "What WordPress and its plugins do by themselves, soonest first, and how the last run of what was due went. What is due is run within a minute, also while nobody visits the site.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  query: Type.Object({ limit: limit("How many events to show at most; left out: all of them."), offset }),
  responses: {
    200: result(
      ["environment"],
      "The events.",
      Type.Object({
        id: uuid("Id of the environment."),
        cron_events: Type.Array(CronEvent),
        total: Type.Integer({ description: "How many there are before `limit` and `offset`.", examples: [12] }),
        last_run: nullable(CronRun),
        problem: nullable(
          Type.String({
            description: "Why some of what is planned can't be read, and is not run. Null: all of it can.",
            examples: ["WordPress's list of planned events (the option `cron`) is damaged."],
          }),
        ),
      }),
    ),
  },
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});
