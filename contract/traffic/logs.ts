/** Access and error logs of environments. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { uuid } from "../schema.ts";

export const logNames = ["error", "access", "cache-perf"] as const;
export type LogName = (typeof logNames)[number];

const moment = (description: string) =>
  Type.Optional(
    Type.String({
      format: "date-time",
      maxLength: 40,
      description: `${description} A date and a time of day with a zone, as in ISO 8601: \`2026-11-22T20:15:31Z\`, \`2026-11-22T21:15:31.5+01:00\`. In a query, \`+\` is sent as \`%2B\`.`,
      examples: ["2026-11-22T20:15:31Z"],
    }),
  );

export const readLogs = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/logs",
  tag: "Logs",
  summary: "Read an environment's log",
  description:
    "The newest matching lines, oldest first. `access` is in combined log format, followed by milliseconds and host; values of secret parameters are removed. `error` has PHP's log and requests that PHP did not answer. `cache-perf` is always empty; the header `X-Cache` shows what the page cache does. Lines appear within a second and are kept for 30 days, up to 50 MB.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  query: Type.Object({
    file_name: Type.Optional(Type.Enum(logNames, { default: "error", description: "Which log." })),
    lines: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 20_000, default: 1_000, description: "How many lines at most." }),
    ),
    from: moment("Only lines from this time on."),
    to: moment("Only lines up to this time."),
    search: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: "Only lines that contain this text; case is ignored.",
        examples: ["/checkout"],
      }),
    ),
  }),
  responses: {
    200: result(
      ["environment"],
      "The lines.",
      Type.Object({
        container_info: Type.Object({
          logs: Type.String({
            description: "Lines, separated by line feeds.",
            examples: ["[2026-11-22T20:15:31.123Z] PHP Warning:  Undefined variable $a in /site/index.php on line 3"],
          }),
          is_complete: Type.Boolean({
            description:
              "False if the search took too long or the answer would have been too long; older lines may match too. Narrow the search with `from` and `to`.",
          }),
        }),
      }),
    ),
  },
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});
