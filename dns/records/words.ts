/** Splits values into words as in zone files: quotation marks, `\"`, and `\DDD` for any byte. */
import { BadValue } from "./badValue.ts";

interface Word {
  readonly bytes: Buffer;
  readonly isQuoted: boolean;
}

/** An escape or a character. */
const piece = /\\(?:(\d{3})|([^\d]))|([^\\])/gsuy;
const quotedOrBare = /\s*(?:"((?:[^"\\]|\\.)*)"(?=\s|$)|([^\s"]+)(?=\s|$))/gsuy;

/** Throws `BadValue`. */
export function readWords(value: string): Word[] {
  const words: Word[] = [];
  const text = value.trim();
  let read = 0;
  for (const match of text.matchAll(quotedOrBare)) {
    const quoted = match[1];
    words.push({ bytes: bytesOf(quoted ?? match[2] ?? ""), isQuoted: quoted !== undefined });
    read = match.index + match[0].length;
  }
  if (read < text.length) throw new BadValue("A quotation mark is missing, or is in the middle of a word");
  return words;
}

/** Encodes characters as UTF-8 and escapes as their bytes. Throws `BadValue`. */
export function bytesOf(text: string): Buffer {
  if (!text.includes("\\")) return Buffer.from(text, "utf8");
  const parts: Buffer[] = [];
  let read = 0;
  for (const match of text.matchAll(piece)) {
    const [whole, decimal, escaped, plain] = match;
    if (decimal !== undefined && Number(decimal) > 255) throw new BadValue(`\\${decimal} is not a byte`);
    parts.push(decimal === undefined ? Buffer.from(escaped ?? plain ?? "", "utf8") : Buffer.from([Number(decimal)]));
    read = match.index + whole.length;
  }
  if (read < text.length) throw new BadValue("A backslash must be followed by a character or by three digits");
  return Buffer.concat(parts);
}

/** Quotes a text. Everything but visible ASCII is escaped. */
export function quote(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) {
    const character = String.fromCharCode(byte);
    if (byte < 0x20 || byte > 0x7e) text += `\\${String(byte).padStart(3, "0")}`;
    else text += character === '"' || character === "\\" ? `\\${character}` : character;
  }
  return `"${text}"`;
}
