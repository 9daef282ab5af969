/**
 * Commands of WP-CLI that can't work here, and what to do instead. All others are let through, `eval` among them: a command
 * runs where the site's own PHP does, and can do no more than that.
 */
import { Refused } from "../failures.ts";
import { positionals } from "./wpCliWords.ts";

const core =
  "WordPress's own code is the same for all sites, and only the platform changes it. `core version` tells which one it is.";
const network = "A site can't be made a network afterwards. Create a site with is_multisite.";
const mysql = "The database is SQLite, for which there is no mysql program.";
const gone = "What it installs would be gone with the command.";

/** By the words that it begins with. */
const commands: Readonly<Record<string, string>> = {
  "cli update": "WP-CLI comes with the platform, which updates it.",
  "config edit": "There is no editor here. Use `config set`.",
  "core download": core,
  "core update": core,
  "core multisite-convert": network,
  "core multisite-install": network,
  "db check": `${mysql} Every backup checks the database.`,
  "db clean": `${mysql} \`POST /sites/{site_id}/reset-site\` makes a fresh WordPress.`,
  "db cli": `${mysql} Send SQL with \`eval\` and $wpdb.`,
  "db create":
    "The database exists, and can't be created again. `POST /sites/{site_id}/reset-site` makes a fresh WordPress.",
  "db drop": "The database can't be removed alone. `POST /sites/{site_id}/reset-site` makes a fresh WordPress.",
  "db export": `${mysql} \`POST /sites/environments/{env_id}/downloadable-backups\` has the database as SQL.`,
  "db import": `${mysql} Restore a backup with \`POST /sites/environments/{target_env_id}/backups/restore\`.`,
  "db optimize": `${mysql} There is nothing to optimize.`,
  "db query": `${mysql} Send SQL with \`eval\` and $wpdb.`,
  "db repair": `${mysql} Restore a backup with \`POST /sites/environments/{target_env_id}/backups/restore\`.`,
  "db reset": "The database can't be reset alone. `POST /sites/{site_id}/reset-site` makes a fresh WordPress.",
  "db size": `${mysql} WordPress can't tell how large a SQLite database is.`,
  "package browse": gone,
  "package install": gone,
  "package uninstall": gone,
  "package update": gone,
  "post edit": "There is no editor here. Use `post update`.",
  server: "PHP can't listen here. The environment is served at its own address.",
  shell: "Nobody can type here. Use `eval`.",
};

const elsewhere = "The command runs in the environment that the request names, and nowhere else.";

const options: Readonly<Record<string, string>> = {
  "--ssh": elsewhere,
  "--http": elsewhere,
  "--path": elsewhere,
  "--prompt": "Nobody can answer here. Send the values with the command.",
};

/** Throws `Refused` if the runtime can't do it. */
export function refuseUnsupported(argv: readonly string[]): void {
  const words = positionals(argv);
  const [first = "", second = ""] = words;
  for (const name of [first, `${first} ${second}`]) {
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

function refuse(what: string, reason: string): never {
  throw new Refused("wp_cli_command_unsupported", `${what} can't be run here. ${reason}`, { command: what });
}
