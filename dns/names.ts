/**
 * Names, in the one form in which they are compared and looked up.
 *
 * A `Name` is what a packet carries, as a text: each label behind its length as one character, letters small, without the
 * empty label at the end; the root is the empty text. So a dot inside a label is no trouble, a name's parent is a piece of
 * the same text, and writing one is copying it.
 */
import { BadValue } from "./records/badValue.ts";

export type Name = string;

export const root: Name = "";
const mostBytes = 255;
/** Tried before letters are made small: other alphabets have letters that become Latin ones then. */
const label = /^[A-Za-z0-9_-]{1,63}$/;

/** Of letters, digits, hyphens and underscores, with or without the final dot. Throws `BadValue`. */
export function readName(written: string): Name {
  if (written === ".") return root;
  const labels = written.replace(/\.$/, "").split(".");
  const wrong = labels.find((one) => !label.test(one));
  if (wrong !== undefined) {
    throw new BadValue(`${shown(written)} is not a domain name: ${wrong === "" ? "a part is empty" : shown(wrong)}`);
  }
  const name = labels.map((one) => String.fromCharCode(one.length) + one.toLowerCase()).join("");
  if (name.length + 1 > mostBytes) throw new BadValue(`${shown(written)} is longer than a domain name may be`);
  return name;
}

/** A name that owns records: its first label may be `*`. Throws `BadValue`. */
export function readOwner(written: string): Name {
  if (!written.startsWith("*.")) return readName(written);
  const name = wildcardBelow(readName(written.slice(2)));
  if (name.length + 1 > mostBytes) throw new BadValue(`${shown(written)} is longer than a domain name may be`);
  return name;
}

/** With the final dot. Bytes that are not letters, digits, `-`, `_` or `*` as `\DDD`. */
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

/** Of any name but the root. */
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

/** For messages: the user's text, shortened if it is very long. */
export function shown(written: string): string {
  return JSON.stringify(written.length > 80 ? `${written.slice(0, 80)}…` : written);
}
