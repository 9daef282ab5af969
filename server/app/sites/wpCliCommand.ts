/** Parses WP-CLI commands. */

/** Splits a command at spaces, except inside single quotes, like a simple shell. Null if a quote is not closed. */
export function splitCommand(command: string): string[] | null {
  const pieces = command.split("'");
  if (pieces.length % 2 === 0) return null;
  const words: string[] = [];
  let word: string | null = null;
  for (const [index, piece] of pieces.entries()) {
    if (index % 2 === 1) {
      word = (word ?? "") + piece;
      continue;
    }
    const [first = "", ...others] = piece.split(/\s+/);
    if (first !== "") word = (word ?? "") + first;
    for (const other of others) {
      if (word !== null) words.push(word);
      word = other === "" ? null : other;
    }
  }
  return word === null ? words : [...words, word];
}

/** WP-CLI's own commands with subcommands. After any other command, the second word may be a value. */
const groups = new Set(
  (
    "cache cap cli comment config core cron db dropin embed i18n language maintenance-mode media menu network option package " +
    "plugin post post-type rewrite role scaffold sidebar site super-admin taxonomy term theme transient user widget"
  ).split(" "),
);

/** The words that are not options. */
export function positionals(argv: readonly string[]): readonly string[] {
  return argv.filter((word) => !word.startsWith("-"));
}

/** The command's name for the activity log, without any values: `plugin list`. */
export function nameOf(argv: readonly string[]): string {
  const [first = "", second = ""] = positionals(argv);
  const isName = (word: string) => /^[a-z][a-z-]{0,30}$/.test(word);
  if (!groups.has(first)) return isName(first) ? first : "…";
  return isName(second) ? `${first} ${second}` : first;
}
