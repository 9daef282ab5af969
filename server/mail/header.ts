/**
 * The header of a message as a site's PHP wrote it: read strictly, because much of it may come from a form that anybody
 * can fill in. A text with a line break in it that was put into a field becomes a field of its own; what gives that away
 * is refused as a whole.
 */
import { MailRefused } from "./refusal.ts";

export interface Field {
  /** Lower case. */
  readonly name: string;
  /** As it was written, without the line break at its end; those within are as they were. One character for each byte. */
  readonly raw: string;
}

export interface ReadMessage {
  readonly fields: readonly Field[];
  /** Where the content begins in the message. */
  readonly contentAt: number;
}

const headerBytes = 256 << 10;
/** RFC 5322, 2.1.1. */
const lineBytes = 998;
/** Those that may be there once (RFC 5322, 3.6, and RFC 2045). */
const single = new Set([
  ...["date", "from", "sender", "reply-to", "to", "cc", "bcc", "message-id", "in-reply-to", "references", "subject"],
  ...["mime-version", "content-type", "content-transfer-encoding", "content-id", "content-disposition"],
]);
/** Unfolded; they are folded again when the message is sent, because PHP's libraries write all recipients into one line. */
export const addressFields = new Set(["to", "cc", "bcc"]);

/** Throws `MailRefused`. */
export function readMessage(message: Buffer): ReadMessage {
  const { text, contentAt } = cutHeader(message);
  if (/\0/.test(text)) throw new MailRefused("its header has a NUL character");
  const fields = readFields(text);
  const names = fields.map(({ name }) => name);
  const twice = names.find((name, at) => single.has(name) && names.indexOf(name) !== at);
  if (twice !== undefined) throw new MailRefused(`its header has the field ${twice} twice`);
  return { fields, contentAt };
}

/** The header ends at the first empty line, or with the message. */
function cutHeader(message: Buffer): { readonly text: string; readonly contentAt: number } {
  const start = message.toString("latin1", 0, headerBytes);
  const end = /\r?\n\r?\n/.exec(start);
  if (end !== null) return { text: start.slice(0, end.index), contentAt: end.index + end[0].length };
  if (message.length > headerBytes) throw new MailRefused(`its header is larger than ${headerBytes >> 10} KB`);
  return { text: start.replace(/\r?\n$/, ""), contentAt: message.length };
}

function readFields(text: string): readonly Field[] {
  const fields: { readonly name: string; readonly lines: string[] }[] = [];
  for (const line of text === "" ? [] : text.split(/\r?\n/)) {
    if (line.includes("\r")) throw new MailRefused("its header has a carriage return without a line feed");
    const last = fields.at(-1);
    if (last !== undefined && /^[ \t]/.test(line)) last.lines.push(line);
    else fields.push({ name: nameIn(line), lines: [line] });
  }
  for (const { name, lines } of fields) {
    if (addressFields.has(name) || lines.every((line) => line.length <= lineBytes)) continue;
    throw new MailRefused(`a line of its header is longer than ${lineBytes} bytes`);
  }
  return fields.map(({ name, lines }) => ({ name, raw: lines.join("\r\n") }));
}

function nameIn(line: string): string {
  const name = /^([!-9;-~]+)[ \t]*:/.exec(line)?.[1];
  if (name === undefined) throw new MailRefused("its header has a line that is no field");
  return name.toLowerCase();
}

/** The field's content in one line, as text; null if there is no such field. */
export function textOf(fields: readonly Field[], name: string): string | null {
  const field = fields.find((one) => one.name === name);
  if (field === undefined) return null;
  const value = field.raw.slice(field.raw.indexOf(":") + 1).replaceAll("\r\n", "");
  return Buffer.from(value, "latin1").toString("utf8").trim();
}
