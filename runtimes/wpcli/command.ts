/** Adapts WP-CLI commands to this runtime, so that they have their usual effect. */

/**
 * Adds options to a command. `search-replace` gets `--precise`: otherwise it replaces unserialised text in SQL and
 * counts the rows that SQL reports as changed, which with SQLite are all examined rows.
 */
export function adaptCommand(argv: readonly string[]): readonly string[] {
  const command = argv.find((word) => !word.startsWith("-"));
  return command === "search-replace" && !argv.includes("--precise") ? [...argv, "--precise"] : argv;
}

/** Returns the path that `rm -rf` would remove; null for any other command. */
export function pathToRemove(command: readonly string[]): string | null {
  const [program, flags, path = "", ...others] = command;
  return program === "rm" && flags === "-rf" && path.startsWith("/") && others.length === 0 ? path : null;
}

const isVariable = (word: string) => /^[A-Z_]+=/.test(word);

/**
 * Returns the arguments of the WP-CLI command that a shell command starts, or null for any other command. WP-CLI writes such
 * commands as `WP_CLI_CONFIG_PATH=… /path/of/php /path/of/wp-cli.phar …`, and `archive` is that last path.
 */
export function nestedCommand(command: readonly string[], archive: string): readonly string[] | null {
  const [php = "", script, ...argv] = command.slice(command.findIndex((word) => !isVariable(word)));
  // WP-CLI passes --no-color on as an empty --color, which means colours.
  return php.endsWith("/php") && script === archive ? argv.filter((word) => !/^--color(?:=|$)/.test(word)) : null;
}
