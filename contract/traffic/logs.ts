/** Logs of environments. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { uuid } from "../schema.ts";

export const logNames = ["error", "access", "cache-perf"] as const;
export type LogName = (typeof logNames)[number];

const timestamp = (description: string) =>
  Type.Optional(
    Type.String({
      format: "date-time",
      maxLength: 40,
      description: `${description} Date and time with a time zone, in ISO 8601: \`2026-11-22T20:15:31Z\` or \`2026-11-22T21:15:31.5+01:00\`. Write \`+\` as \`%2B\` in the query.`,
      examples: ["2026-11-22T20:15:31Z"],
    }),
  );

export const readLogs = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/logs",
  tag: "Logs",
  summary: "Read an environment's log",
  description:
    "Returns the newest matching lines, oldest first. `error` has PHP's errors and warnings, and the requests that PHP did not answer. `access` is in combined log format, followed by the duration in milliseconds and the host; values of secret parameters are removed. `cache-perf` is always empty; use the header `X-Cache` of pages instead. Lines appear within a second and are kept for 30 days, up to 50 MB.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  query: Type.Object({
    file_name: Type.Optional(Type.Enum(logNames, { default: "error", description: "The log to read." })),
    lines: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 20_000, default: 1_000, description: "Maximum number of lines." }),
    ),
    from: timestamp("Only lines at or after this time."),
    to: timestamp("Only lines at or before this time."),
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
            examples: [true],
            description:
              "False if older lines may match too, because the search took too long or the response would have been too long. Narrow the search with `from` and `to`.",
          }),
        }),
      }),
    ),
  },
  refusals: ["period_backwards"],
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});
