/** A command of WP-CLI as words, and what of it may be shown. */

/** As a shell would, as far as it goes: spaces separate, and what is between two quotes belongs together. Null: one is left open. */
export function wordsOf(command: string): string[] | null {
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

/** Those of WP-CLI's own commands that have others below them: of any other the second word may be a value. */
const groups = new Set(
  (
    "cache cap cli comment config core cron db embed i18n language maintenance-mode media menu network option package " +
    "plugin post post-type rewrite role scaffold sidebar site super-admin taxonomy term theme transient user widget"
  ).split(" "),
);

/** The words that are no options. */
export function positionals(argv: readonly string[]): readonly string[] {
  return argv.filter((word) => !word.startsWith("-"));
}

/** What the activity log shows of a command, and never a value: `plugin list`. */
export function nameOf(argv: readonly string[]): string {
  const [first = "", second = ""] = positionals(argv);
  const isName = (word: string) => /^[a-z][a-z-]{0,30}$/.test(word);
  if (!groups.has(first)) return isName(first) ? first : "…";
  return isName(second) ? `${first} ${second}` : first;
}
