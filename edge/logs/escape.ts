/** Escapes text from visitors and PHP so that it stays on one line of a log. */

/** Characters that end a line for some program, or control a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it searches for control characters
const controls = /[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]/g;
/** Characters that are escaped between quotes. */
const unquotable = /[^\x20-\x7e]|["\\]/g;

/** Escapes control characters except tabs, and truncates the text. */
export function oneLine(text: string, longest: number): string {
  const part = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return part.replace(controls, bytesOf);
}

/** Quotes and truncates a text. Everything but visible ASCII becomes `\xHH`. */
export function quoted(text: string, longest: number): string {
  const part = text.length > longest ? `${text.slice(0, longest)}...` : text;
  return `"${part.replace(unquotable, bytesOf)}"`;
}

function bytesOf(character: string): string {
  return Buffer.from(character, character.charCodeAt(0) > 0xff ? "utf8" : "latin1")
    .toString("hex")
    .replace(/../g, "\\x$&");
}
