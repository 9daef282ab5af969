/** Resource usage of a company's environments. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { count, limit, offset, uuid } from "../schema.ts";
import { diskUseFields, Limits } from "../sites/limits.ts";

const seconds = (description: string, example: number) => Type.Number({ minimum: 0, description, examples: [example] });
const timestamp = (description: string) =>
  Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000, description, examples: [1795190400000] });

export const noises = ["cpu", "killed", "disk"] as const;

const EnvironmentUsage = Type.Object(
  {
    environment_id: uuid("Id of the environment."),
    display_name: Type.String({ description: "Display name of the environment.", examples: ["Live"] }),
    site_id: uuid("Id of its site."),
    site_display_name: Type.String({ description: "Display name of its site.", examples: ["Demo"] }),
    cpu_seconds: seconds("Processor time used by PHP, in seconds.", 41.5),
    php_requests: count("Number of requests answered by PHP, without static files.", 312),
    php_seconds: seconds("Total duration of these requests, in seconds.", 63.2),
    killed_for_time: count("Number of requests killed because they took too long.", 0),
    killed_for_memory: count("Number of requests killed because they used too much memory.", 0),
    refused_busy: count("Number of requests refused because all PHP threads of the environment were busy.", 0),
    bytes_sent: count("Number of bytes sent to visitors, including static files.", 73_400_320),
    ...diskUseFields,
    limits: Limits,
    is_noisy: Type.Boolean({ description: "Whether it slows down, or could slow down, other environments." }),
    noise: Type.Array(Type.Enum(noises), {
      description:
        "How it does so. `cpu`: it used more than half a processor in the last minutes. `killed`: at least ten of its requests were killed in this hour or the previous one. `disk`: it exceeds its disk quota.",
      examples: [[]],
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
    "Returns one row per environment. Usage is counted per hour: the period is extended to whole hours, which are `from` and `to` of the response. Data is kept for 62 days. Deleted environments are not included.",
  params: Type.Object({ id: uuid("Id of the company.") }),
  query: Type.Object({
    from: Type.Optional(timestamp("Start of the period. Milliseconds since 1970. Default: 24 hours before `to`.")),
    to: Type.Optional(timestamp("End of the period. Milliseconds since 1970. Default: now.")),
    sort: Type.Optional(
      Type.Enum(["cpu", "requests", "bytes", "disk", "killed"], {
        default: "cpu",
        description: "Sort key, largest value first.",
      }),
    ),
    limit: limit("Maximum number of environments; values above 1000 count as 1000.", { default: 100 }),
    offset,
  }),
  responses: {
    200: result(
      ["company", "usage"],
      "The usage.",
      Type.Object({
        from: timestamp("Start of the period. Milliseconds since 1970."),
        to: timestamp("End of the period. Milliseconds since 1970."),
        items: Type.Array(EnvironmentUsage),
        total: count("Number of environments before paging."),
      }),
    ),
  },
  refusals: ["period_backwards"],
  verb: "read",
  resource: { kind: "company", from: "params.id", underSiteScope: "filtered" },
});
