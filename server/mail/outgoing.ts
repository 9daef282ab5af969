/** A message as mail servers get it: with what every message must have, and without what only the sender may know. */
import { addressFields, type Field, readMessage } from "./header.ts";

export interface Outgoing {
  readonly id: string;
  readonly environmentId: string;
  /** The environment's own name, for what the message does not say. */
  readonly host: string;
  readonly createdAt: Date;
  readonly message: Buffer;
}

const environmentField = "X-Sitewright-Environment";
/** Who gets a blind copy is nobody's business; the last was written by somebody who wanted to seem to be us. */
const left = new Set(["bcc", "return-path", environmentField.toLowerCase()]);
const lineBytes = 998;

/** The whole message, lines ending as SMTP wants them. The same for the same mail, however often it is made. */
export function makeOutgoing(mail: Outgoing): Buffer {
  const { fields, contentAt } = readMessage(mail.message);
  const names = new Set(fields.map(({ name }) => name));
  const own = missing(mail).flatMap(([name, value]) => (names.has(name.toLowerCase()) ? [] : [`${name}: ${value}`]));
  const kept = fields.filter(({ name }) => !left.has(name)).map(written);
  const header = [...own, ...kept, `${environmentField}: ${mail.environmentId}`].join("\r\n");
  const content = mail.message.toString("latin1", contentAt).replace(/\r\n|\r|\n/g, "\r\n");
  return Buffer.from(`${header}\r\n\r\n${content}`, "latin1");
}

/** What PHP's `mail()` writes only where a script does. */
function missing({ id, host, createdAt }: Outgoing): readonly (readonly [name: string, value: string])[] {
  return [
    ["Date", createdAt.toUTCString().replace("GMT", "+0000")],
    ["From", defaultSender(host)],
    ["Message-ID", `<${id}@${host}>`],
  ];
}

/** Whom messages are from that name nobody; the name that WordPress uses. */
export function defaultSender(host: string): string {
  return `wordpress@${host}`;
}

function written({ name, raw }: Field): string {
  if (!addressFields.has(name) || raw.split("\r\n").every((line) => line.length <= lineBytes)) return raw;
  return foldAtCommas(raw);
}

/** A line break is put behind each comma that separates addresses. */
function foldAtCommas(raw: string): string {
  let isQuoted = false;
  let folded = "";
  for (const [at, character] of [...raw.replaceAll("\r\n", "")].entries()) {
    if (character === '"' && raw[at - 1] !== "\\") isQuoted = !isQuoted;
    folded += character === "," && !isQuoted ? ",\r\n " : character;
  }
  return folded;
}
