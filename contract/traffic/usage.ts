/** Resource usage of a company's environments. */
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
    cpu_seconds: seconds("Processor time used by PHP."),
    php_requests: count("Requests answered by PHP, without static files."),
    php_seconds: seconds("Total duration of these requests."),
    killed_for_time: count("Requests killed because they took too long."),
    killed_for_memory: count("Requests killed because they used too much memory."),
    refused_busy: count("Requests refused because all PHP threads of the environment were busy."),
    bytes_sent: count("Bytes sent to visitors, including static files."),
    ...diskUseFields,
    limits: Limits,
    is_noisy: Type.Boolean({ description: "Whether it slows down, or could slow down, its neighbors." }),
    noise: Type.Array(Type.Enum(noises), {
      description:
        "Reasons: `cpu`: used more than half a processor in the last minutes; `killed`: requests were killed at least ten times in this hour or the previous one; `disk`: over its quota.",
    }),
  },
  { title: "EnvironmentUsage" },
);

export const getUsage = endpoint({
  method: "GET",
  path: "/company/{id}/usage",
  tag: "Limits",
  summary: "Get the resource usage of a company's environments",
  description:
    "Counted per hour: the period is extended to whole hours, which `from` and `to` of the answer state. Data is kept for 62 days. Deleted environments are not included. `total` is the number of environments before paging.",
  params: Type.Object({ id: uuid("Id of the company.") }),
  query: Type.Object({
    from: Type.Optional(moment("Milliseconds since 1970. Default: 24 hours before `to`.")),
    to: Type.Optional(moment("Milliseconds since 1970. Default: now.")),
    sort: Type.Optional(
      Type.Enum(["cpu", "requests", "bytes", "disk", "killed"], {
        default: "cpu",
        description: "Sort key, largest first.",
      }),
    ),
    limit: limit("Maximum number of environments; values above 1000 count as 1000.", { default: 100 }),
    offset,
  }),
  responses: {
    200: result(
      ["company", "usage"],
      "One row for each environment.",
      Type.Object({
        from: moment("Start of the period."),
        to: moment("End of the period."),
        items: Type.Array(EnvironmentUsage),
        total: count("Number of environments."),
      }),
    ),
  },
  verb: "read",
  resource: { kind: "company", from: "params.id", underSiteScope: "filtered" },
});
