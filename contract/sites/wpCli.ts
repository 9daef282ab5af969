/** WP-CLI in environments. */
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
          "must start with wp and contain only letters, digits, spaces and _ - . / : = @ '; use argv for anything else",
        ),
        description:
          "The command as you would type it. Text between two `'` is one word or part of one. There is no shell, so no other character has a special meaning.",
        examples: ["wp plugin list --format=json"],
      }),
    ),
    argv: Type.Optional(
      Type.Array(
        Type.String({
          maxLength: 10_000,
          pattern: pattern("^[^\\u0000-\\u001F\\u007F]*$", "must not contain control characters"),
        }),
        {
          minItems: 1,
          maxItems: 200,
          description:
            "Instead of `wp_command`: the arguments as a list, without `wp`. All characters except control characters are allowed.",
          examples: [["option", "update", "blogdescription", "Bread & butter"]],
        },
      ),
    ),
  },
  {
    title: "WpCliCommand",
    minProperties: 1,
    examples: [{ wp_command: "wp plugin list --format=json" }],
    description: "Exactly one of `wp_command` and `argv`.",
  },
);

export const runWpCli = endpoint({
  method: "POST",
  path: "/sites/environments/{env_id}/run-wp-cli-command",
  tag: "Tools",
  summary: "Run a WP-CLI command",
  description:
    "Runs the command once, in its own process, with the environment's files, database, PHP version and permissions. Standard input is empty: add `--yes` to commands that ask. `data.result` of the operation is `{stdout, stderr, exit_code, ended_by, stdout_bytes, stderr_bytes, stdout_truncated, stderr_truncated}`. At most 256 KiB of each output are kept: its beginning and its end. If the exit code is not 0, the operation fails with WP-CLI's first error as the reason; `data.result` is still available. A command is killed after five minutes (SITEWRIGHT_WP_CLI_SECONDS), after 64 MiB of output, or if it uses too much memory. If the server restarts meanwhile, the operation fails and the command is not repeated. Read-only keys can't see the result.\n\nIf a plugin or theme breaks the site, add `--skip-plugins --skip-themes`; drop-ins and must-use plugins that keep WordPress from loading are then left out too. `dropin deactivate object-cache.php` switches a drop-in off, and `eval 'unlink(\"wp-content/mu-plugins/x.php\");' --skip-wordpress` deletes a file; both work without WordPress.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  body: WpCliCommand,
  responses: { 202: { description: "The command is being run.", body: Accepted } },
  refusals: ["wp_cli_command_unclear", "wp_cli_command_unsupported"],
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
  operation: "runWpCli",
});
