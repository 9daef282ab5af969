/** Prepares a message for the mail server: adds required fields, removes private ones, and fixes line ends. */
import { addressFields, type Field, readMessage } from "./header.ts";

interface Outgoing {
  readonly id: string;
  readonly environmentId: string;
  /** The environment's host, for default fields. */
  readonly host: string;
  readonly createdAt: Date;
  readonly message: Buffer;
}

const environmentField = "X-Sitewright-Environment";
/** Bcc is private, Return-Path is set by the receiving server, and a site must not forge the environment. */
const removedFields = new Set(["bcc", "return-path", environmentField.toLowerCase()]);
const maxLineBytes = 998;

/** Returns the whole message with CRLF line ends. The result for a mail is always the same. */
export function makeOutgoing(mail: Outgoing): Buffer {
  const { fields, bodyOffset } = readMessage(mail.message);
  const names = new Set(fields.map(({ name }) => name));
  const added = defaultFields(mail).flatMap(([name, value]) =>
    names.has(name.toLowerCase()) ? [] : [`${name}: ${value}`],
  );
  const kept = fields.filter(({ name }) => !removedFields.has(name)).map(format);
  const header = [...added, ...kept, `${environmentField}: ${mail.environmentId}`].join("\r\n");
  const body = mail.message.toString("latin1", bodyOffset).replace(/\r\n|\r|\n/g, "\r\n");
  return Buffer.from(`${header}\r\n\r\n${body}`, "latin1");
}

/** Fields that PHP's `mail()` does not add by itself. */
function defaultFields({ id, host, createdAt }: Outgoing): readonly (readonly [name: string, value: string])[] {
  return [
    ["Date", createdAt.toUTCString().replace("GMT", "+0000")],
    ["From", defaultSender(host)],
    ["Message-ID", `<${id}@${host}>`],
  ];
}

/** WordPress's default sender, used if the message names none. */
export function defaultSender(host: string): string {
  return `wordpress@${host}`;
}

function format({ name, raw }: Field): string {
  if (!addressFields.has(name) || raw.split("\r\n").every((line) => line.length <= maxLineBytes)) return raw;
  return foldAtCommas(raw);
}

/** Inserts a line break after each comma that separates addresses. */
function foldAtCommas(raw: string): string {
  let isQuoted = false;
  let folded = "";
  for (const [at, character] of [...raw.replaceAll("\r\n", "")].entries()) {
    if (character === '"' && raw[at - 1] !== "\\") isQuoted = !isQuoted;
    folded += character === "," && !isQuoted ? ",\r\n " : character;
  }
  return folded;
}
