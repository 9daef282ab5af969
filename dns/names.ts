/**
 * Domain names in the canonical form in which they are compared and looked up.
 *
 * A `Name` is the wire format as a string: each label after its length as one character, in lower case, without the
 * final empty label. The root is the empty string. So labels may contain dots, the parent of a name is a substring, and
 * encoding is copying.
 */
import { BadValue } from "./records/badValue.ts";

export type Name = string;

export const root: Name = "";
const maxBytes = 255;
/** Checked before conversion to lower case, which turns some letters of other alphabets into Latin ones. */
const label = /^[A-Za-z0-9_-]{1,63}$/;

/** Parses a name of letters, digits, hyphens and underscores, with or without the final dot. Throws `BadValue`. */
export function readName(written: string): Name {
  if (written === ".") return root;
  const labels = written.replace(/\.$/, "").split(".");
  const invalid = labels.find((one) => !label.test(one));
  if (invalid !== undefined) {
    const reason = invalid === "" ? "a label is empty" : `${quoteForMessage(invalid)} is not a valid label`;
    throw new BadValue(`${quoteForMessage(written)} is not a domain name: ${reason}`);
  }
  const name = labels.map((one) => String.fromCharCode(one.length) + one.toLowerCase()).join("");
  if (name.length + 1 > maxBytes) throw new BadValue(`${quoteForMessage(written)} is too long for a domain name`);
  return name;
}

/** Parses the name of a record, whose first label may be `*`. Throws `BadValue`. */
export function readOwner(written: string): Name {
  if (!written.startsWith("*.")) return readName(written);
  const name = wildcardBelow(readName(written.slice(2)));
  if (name.length + 1 > maxBytes) throw new BadValue(`${quoteForMessage(written)} is too long for a domain name`);
  return name;
}

/** Writes a name with the final dot. Bytes other than letters, digits, `-`, `_` and `*` become `\DDD`. */
export function writeName(name: Name): string {
  if (name === root) return ".";
  let written = "";
  for (let rest = name; rest !== root; rest = parentOf(rest)) {
    written += `${escaped(rest.slice(1, 1 + rest.charCodeAt(0)))}.`;
  }
  return written;
}

function escaped(bytes: string): string {
  return bytes.replace(/[^a-z0-9_*-]/g, (byte) => `\\${String(byte.charCodeAt(0)).padStart(3, "0")}`);
}

/** The name without its first label. Not for the root. */
export function parentOf(name: Name): Name {
  return name.slice(1 + name.charCodeAt(0));
}

export function wildcardBelow(name: Name): Name {
  return `\u0001*${name}`;
}

/** Whether the name is `top` or below it. */
export function isWithin(name: Name, top: Name): boolean {
  let rest = name;
  while (rest.length > top.length) rest = parentOf(rest);
  return rest === top;
}

/** Quotes and truncates a user's text for an error message. */
export function quoteForMessage(written: string): string {
  return JSON.stringify(truncateForMessage(written));
}

export function truncateForMessage(written: string): string {
  return written.length > 80 ? `${written.slice(0, 80)}…` : written;
}
