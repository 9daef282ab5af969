/**
 * WP-CLI commands that can't work here, and what to do instead. All others are accepted, including `eval`: a command runs in
 * the same sandbox as the site's PHP and has no further permissions.
 */
import { Refused } from "../failures.ts";
import { positionals } from "./wpCliCommand.ts";

const core =
  "All sites share WordPress's own code, and only the platform changes it. `core version` shows the version.";
const network = "A site can't be converted to a network. Create a site with is_multisite.";
const mysql = "There is no mysql program here.";
const notKept = "WP-CLI packages are not kept after the command.";
const aliases = "Aliases are not kept, and a command runs only in the environment that the request names.";
const ownVersion = "WP-CLI comes with the platform, which updates it.";

/** Reasons, by the first words of the command. */
const commands: Readonly<Record<string, string>> = {
  "cli alias add": aliases,
  "cli alias delete": aliases,
  "cli alias update": aliases,
  "cli check-update": ownVersion,
  "cli update": ownVersion,
  "config edit": "There is no editor here. Use `config set`.",
  "core download": core,
  "core update": core,
  "core multisite-convert": network,
  "core multisite-install": network,
  "cron test":
    "WordPress does not start WP-Cron itself here: the platform runs scheduled events. `cron event list` shows them.",
  "db clean": "`POST /sites/{site_id}/reset-site` makes a fresh WordPress.",
  "db cli": `${mysql} Send SQL with \`db query\`.`,
  "db create": "The database exists already. `POST /sites/{site_id}/reset-site` makes a fresh WordPress.",
  "db drop": "The database can't be removed alone. `POST /sites/{site_id}/reset-site` makes a fresh WordPress.",
  "db reset": "The database can't be reset alone. `POST /sites/{site_id}/reset-site` makes a fresh WordPress.",
  "package browse": notKept,
  "package install": notKept,
  "package uninstall": notKept,
  "package update": notKept,
  "post edit": "There is no editor here. Use `post update`.",
  server: "PHP can't listen on a port here. Visit the environment at its own address.",
  shell: "Commands run without a terminal. Use `eval`.",
};

const elsewhere = "The command runs only in the environment that the request names.";

const options: Readonly<Record<string, string>> = {
  "--ssh": elsewhere,
  "--http": elsewhere,
  "--path": elsewhere,
  "--prompt": "Commands run without a terminal. Send the values with the command.",
};

/** The refused commands, such as `core update`. */
export const unsupportedCommands = Object.keys(commands);

/** Throws `Refused` if the command can't work here. */
export function refuseUnsupported(argv: readonly string[]): void {
  const words = positionals(argv);
  const [first = ""] = words;
  for (const name of [1, 2, 3].map((count) => words.slice(0, count).join(" "))) {
    const reason = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (reason !== undefined) refuse(`wp ${name}`, reason);
  }
  for (const word of argv) {
    const [name = ""] = word.split("=", 1);
    const reason = Object.hasOwn(options, name) ? options[name] : undefined;
    if (reason !== undefined) refuse(name, reason);
  }
  if (first.startsWith("@")) refuse("An alias", elsewhere);
}

function refuse(command: string, reason: string): never {
  throw new Refused("wp_cli_command_unsupported", `${command} is not available. ${reason}`, { command });
}
