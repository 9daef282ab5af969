/** Escapes text of visitors and PHP for one line of a log, so that it can't start a line of its own. */

/** Everything that ends a line for some program, or tells a terminal to do something. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controls = /[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]/g;
/** Within quotes, and where each character is one byte that a visitor sent. */
const notPlain = /[^\x20-\x7e]|["\\]/g;

/** A text without control characters but tabs, and no longer than so many characters. */
export function oneLine(text: string, longest: number): string {
  const part = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return part.replace(controls, bytesOf);
}

/** The same for what stands between quotes, in visible ASCII: whatever is not becomes `\xHH`. */
export function quoted(text: string, longest: number): string {
  const part = text.length > longest ? `${text.slice(0, longest)}...` : text;
  return `"${part.replace(notPlain, bytesOf)}"`;
}

function bytesOf(character: string): string {
  return Buffer.from(character, character.charCodeAt(0) > 0xff ? "utf8" : "latin1")
    .toString("hex")
    .replace(/../g, "\\x$&");
}
