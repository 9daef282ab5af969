/** What a command of WP-CLI needs here so that it does what it does elsewhere. */

function positionals(argv: readonly string[]): readonly string[] {
  return argv.filter((word) => !word.startsWith("-"));
}

/** Before which WP-CLI puts what is new in a `wp-config.php`: the comment that it expects, or what stands there in ours. */
const usualAnchor = "/* That's all, stop editing!";
const ownAnchor = "if ( ! defined( 'ABSPATH' ) )";

/**
 * `search-replace` lets SQL replace what is not serialised, and counts the rows that SQL says it changed: for SQLite these
 * are all that it looked at. Otherwise it compares row by row, and counts right.
 * `config set` must be told where to put something into a file without the comment that it looks for.
 */
export function adapted(argv: readonly string[], wpConfig: string): readonly string[] {
  const [command, verb] = positionals(argv);
  if (command === "search-replace" && !argv.includes("--precise")) return [...argv, "--precise"];
  const isSetting = command === "config" && verb === "set" && !argv.some((word) => word.startsWith("--anchor"));
  const isOurs = !wpConfig.includes(usualAnchor) && wpConfig.includes(ownAnchor);
  return isSetting && isOurs ? [...argv, `--anchor=${ownAnchor}`] : argv;
}

/** Whether WP-CLI starts the program `rm` for it, which is the only one that we can be. */
export function removesFolders(argv: readonly string[]): boolean {
  const [noun, verb = ""] = positionals(argv);
  return noun === "plugin" && ["delete", "uninstall"].includes(verb);
}

/** The path that `rm -rf` is to remove; null if another program is asked for. */
export function removedPath(command: readonly string[]): string | null {
  const [program, flags, path = "", ...others] = command;
  return program === "rm" && flags === "-rf" && path.startsWith("/") && others.length === 0 ? path : null;
}
