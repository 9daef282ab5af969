/** Splits a shell command into words, as a shell would that knows quotes and backslashes but nothing else. */
export function shellWords(command: string): readonly string[] {
  const word = /(?:[^\s'"\\]|\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*")+/g;
  return (command.match(word) ?? []).map(unquoted);
}

function unquoted(word: string): string {
  return word.replaceAll(/'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])/g, (_, plain, quoted, escaped) => {
    if (typeof plain === "string") return plain;
    // Between double quotes a backslash is removed only before these.
    return typeof quoted === "string" ? quoted.replaceAll(/\\([$`"\\])/g, "$1") : String(escaped);
  });
}
