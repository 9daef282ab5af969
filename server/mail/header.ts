/**
 * Strict parsing of the header that a site's PHP wrote. Parts of it may come from a form that anyone can fill in: a
 * line break in the input would turn the rest into a new field. Messages with signs of such an injection are refused.
 */
import { MailRefused } from "./refusal.ts";

export interface Field {
  /** Lower case. */
  readonly name: string;
  /** As written, without the final line break, with `\r\n` before folded lines. One character per byte. */
  readonly raw: string;
}

interface ReadMessage {
  readonly fields: readonly Field[];
  /** Byte offset of the body. */
  readonly bodyOffset: number;
}

const maxHeaderBytes = 256 << 10;
/** RFC 5322, 2.1.1. */
const maxLineBytes = 998;
/** Fields that may occur only once (RFC 5322, 3.6, and RFC 2045). */
const single = new Set([
  ...["date", "from", "sender", "reply-to", "to", "cc", "bcc", "message-id", "in-reply-to", "references", "subject"],
  ...["mime-version", "content-type", "content-transfer-encoding", "content-id", "content-disposition"],
]);
/**
 * These may have long lines, because PHP libraries write all recipients on one; they are folded when the message is
 * sent.
 */
export const addressFields = new Set(["to", "cc", "bcc"]);

/** Throws `MailRefused`. */
export function readMessage(message: Buffer): ReadMessage {
  const { text, bodyOffset } = splitHeader(message);
  if (/\0/.test(text)) throw new MailRefused("the header contains a NUL character");
  const fields = readFields(text);
  const names = fields.map(({ name }) => name);
  const duplicate = names.find((name, at) => single.has(name) && names.indexOf(name) !== at);
  if (duplicate !== undefined) throw new MailRefused(`the header contains the field ${duplicate} twice`);
  return { fields, bodyOffset };
}

/** Splits at the first empty line; without one, the whole message is header. */
function splitHeader(message: Buffer): { readonly text: string; readonly bodyOffset: number } {
  const start = message.toString("latin1", 0, maxHeaderBytes);
  const end = /\r?\n\r?\n/.exec(start);
  if (end !== null) return { text: start.slice(0, end.index), bodyOffset: end.index + end[0].length };
  if (message.length > maxHeaderBytes) throw new MailRefused(`the header is larger than ${maxHeaderBytes >> 10} KB`);
  return { text: start.replace(/\r?\n$/, ""), bodyOffset: message.length };
}

function readFields(text: string): readonly Field[] {
  const fields: { readonly name: string; readonly lines: string[] }[] = [];
  for (const line of text === "" ? [] : text.split(/\r?\n/)) {
    if (line.includes("\r")) throw new MailRefused("the header contains a carriage return without a line feed");
    const last = fields.at(-1);
    if (last !== undefined && /^[ \t]/.test(line)) last.lines.push(line);
    else fields.push({ name: nameIn(line), lines: [line] });
  }
  for (const { name, lines } of fields) {
    if (addressFields.has(name) || lines.every((line) => line.length <= maxLineBytes)) continue;
    throw new MailRefused(`a header line is longer than ${maxLineBytes} bytes`);
  }
  return fields.map(({ name, lines }) => ({ name, raw: lines.join("\r\n") }));
}

function nameIn(line: string): string {
  const name = /^([!-9;-~]+)[ \t]*:/.exec(line)?.[1];
  if (name === undefined) throw new MailRefused("the header contains a line that is not a field");
  return name.toLowerCase();
}

/** The unfolded value of a field, or null if there is no such field. */
export function textOf(fields: readonly Field[], name: string): string | null {
  const field = fields.find((each) => each.name === name);
  if (field === undefined) return null;
  const value = field.raw.slice(field.raw.indexOf(":") + 1).replaceAll("\r\n", "");
  return Buffer.from(value, "latin1").toString("utf8").trim();
}
