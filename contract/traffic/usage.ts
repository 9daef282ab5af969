/** What the environments of a company take. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { limit, offset, uuid } from "../schema.ts";
import { diskUseFields, Limits } from "../sites/limits.ts";

const count = (description: string) => Type.Integer({ minimum: 0, description });
const seconds = (description: string) => Type.Number({ minimum: 0, description });
const moment = (description: string) =>
  Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000, description, examples: [1795190400000] });

export const noises = ["cpu", "killed", "disk"] as const;

const EnvironmentUsage = Type.Object(
  {
    environment_id: uuid("The environment."),
    display_name: Type.String({ examples: ["Live"] }),
    site_id: uuid("Its site."),
    site_display_name: Type.String({ examples: ["Demo"] }),
    cpu_seconds: seconds("Processor time of its PHP."),
    php_requests: count("Requests that PHP answered; files are none."),
    php_seconds: seconds("How long they took together."),
    killed_for_time: count("Requests that PHP was ended in because they took too long."),
    killed_for_memory: count("The same, because they took too much memory."),
    refused_busy: count("Requests that were refused because PHP was busy with others of the environment."),
    bytes_sent: count("What the edge sent to visitors, files included."),
    ...diskUseFields,
    limits: Limits,
    is_noisy: Type.Boolean({ description: "Whether it is a burden for others now, or would be." }),
    noise: Type.Array(Type.Enum(noises), {
      description:
        "Why: `cpu` kept more than half of a processor busy in the last minutes; `killed` was ended at least ten times in this hour or the one before; `disk` is over its quota.",
    }),
  },
  { title: "EnvironmentUsage" },
);

export const getUsage = endpoint({
  method: "GET",
  path: "/company/{id}/usage",
  tag: "Limits",
  summary: "What the environments of a company take",
  description:
    "Counted by the hour: the period is widened to whole hours, and `from` and `to` in the answer say to which. What is older than 62 days is forgotten. Environments that are deleted take nothing. `total` counts them before paging.",
  params: Type.Object({ id: uuid("Id of the company.") }),
  query: Type.Object({
    from: Type.Optional(moment("Milliseconds since 1970. Left out: 24 hours before `to`.")),
    to: Type.Optional(moment("Milliseconds since 1970. Left out: now.")),
    sort: Type.Optional(
      Type.Enum(["cpu", "requests", "bytes", "disk", "killed"], { default: "cpu", description: "The greatest first." }),
    ),
    limit: limit("How many environments at most; above 1000 counts as 1000.", { default: 100 }),
    offset,
  }),
  responses: {
    200: result(
      ["company", "usage"],
      "One row for each environment.",
      Type.Object({
        from: moment("Where the period begins."),
        to: moment("Where it ends."),
        items: Type.Array(EnvironmentUsage),
        total: count("How many environments there are."),
      }),
    ),
  },
  verb: "read",
  resource: { kind: "company", from: "params.id", underSiteScope: "filtered" },
});
