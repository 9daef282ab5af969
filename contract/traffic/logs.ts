/** What an environment's visitors asked for, and what its PHP complained of. */
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
  summary: "Read a log of an environment",
  description:
    "The newest lines that match, the oldest of them first. `access` has the common combined form, followed by milliseconds and host; values of secret parameters are left out. `error` has what PHP writes to its log, and each request that it gave no answer to. `cache-perf` is empty, because there is no page cache yet. Lines are there within a second, and are kept for 30 days, or as long as they take less than 50 MB.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  query: Type.Object({
    file_name: Type.Optional(Type.Enum(logNames, { default: "error", description: "Which log." })),
    lines: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 20_000, default: 1_000, description: "How many lines at most." }),
    ),
    from: moment("No line from before."),
    to: moment("No line from after."),
    search: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: "Only lines that have this text in them, in upper or lower case.",
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
            description: "Lines, each but the last with a line feed at its end.",
            examples: ["[2026-11-22T20:15:31.123Z] PHP Warning:  Undefined variable $a in /site/index.php on line 3"],
          }),
          is_complete: Type.Boolean({
            description:
              "False where the search was given up because it took too long, or the answer would have been too long: further lines, older than these, may match. Narrow it down with `from` and `to`.",
          }),
        }),
      }),
    ),
  },
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});
