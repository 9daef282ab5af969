/** WP-CLI in an environment. */
import { Type } from "typebox";
import { endpoint } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { pattern, uuid } from "../schema.ts";

export const WpCliCommand = Type.Object(
  {
    wp_command: Type.Optional(
      Type.String({
        maxLength: 5000,
        pattern: pattern(
          "^wp\\s+[a-zA-Z0-9_\\-./:=@'\\s]+$",
          "must begin with wp and have only letters, digits, spaces and _ - . / : = @ ' after it; send argv for anything else",
        ),
        description:
          "The command as one types it. What stands between two `'` is one word, or a part of one; nothing else has a meaning: there is no shell.",
        examples: ["wp plugin list --format=json"],
      }),
    ),
    argv: Type.Optional(
      Type.Array(
        Type.String({
          maxLength: 10_000,
          pattern: pattern("^[^\\u0000-\\u001F\\u007F]*$", "must be without control characters"),
        }),
        {
          minItems: 1,
          maxItems: 200,
          description:
            "Instead of `wp_command`: the words of the command as a list, without `wp`. A word may have any character but control characters.",
          examples: [["option", "update", "blogdescription", "Bread & butter"]],
        },
      ),
    ),
  },
  { title: "WpCliCommand", description: "Exactly one of `wp_command` and `argv`." },
);

export const runWpCli = endpoint({
  method: "POST",
  path: "/sites/environments/{env_id}/run-wp-cli-command",
  tag: "Tools",
  summary: "Run a WP-CLI command",
  description:
    "Runs the command once, in a process of its own, with the environment's files, database, version of PHP and rights, and with nothing on its standard input: add `--yes` to what would ask. `data.result` of the operation is `{stdout, stderr, exit_code, ended_by, stdout_bytes, stderr_bytes, stdout_truncated, stderr_truncated}`; of each output 256 KiB are kept, its beginning and its end. Where the exit code is not 0 the operation fails with the first error that WP-CLI printed as the reason, and `data.result` is there all the same. A command is ended after five minutes (a setting of the installation), when it prints more than 64 MiB, and when it takes too much memory. Where the server is restarted meanwhile the command is not repeated: the operation fails and says so. Keys that may only read do not see the result.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  body: WpCliCommand,
  responses: { 202: { description: "The command is being run.", body: Accepted } },
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
  operation: "runWpCli",
});
