/** Parameters of SVCB and HTTPS records (RFC 9460), such as `alpn="h3,h2"`. */
import { quoteForMessage } from "../names.ts";
import { readIpv4, readIpv6, writeIpv4, writeIpv6 } from "./address.ts";
import { BadValue } from "./badValue.ts";
import { uint16, wholeNumber } from "./wire.ts";
import { bytesOf, quote } from "./words.ts";

export const keys = { mandatory: 0, alpn: 1, noDefaultAlpn: 2 } as const;

interface ParameterKind {
  readonly name: string;
  /** Parses the decoded value. Throws `BadValue`. */
  read(value: Buffer): Buffer;
  /** Writes the value, as yet without quotation marks and escapes. */
  write(data: Buffer): Buffer;
  /** Whether the value is always quoted, as PowerDNS expects it. */
  readonly isQuoted?: boolean;
}

const asIs = (data: Buffer): Buffer => data;
const opaque = { read: asIs, write: asIs, isQuoted: true };
/** Needs no quotation marks. */
const plain = /^[\w.:,-]*$/;

/** Keys without a name are written as `key7`, which programs that are older than the key can read too. */
const kinds: ReadonlyMap<number, ParameterKind> = new Map<number, ParameterKind>([
  [keys.mandatory, { name: "mandatory", read: readMandatory, write: writeMandatory }],
  [keys.alpn, { name: "alpn", read: readProtocols, write: writeProtocols }],
  [keys.noDefaultAlpn, { name: "no-default-alpn", read: readNothing, write: asIs }],
  [3, { name: "port", read: readPort, write: (data) => Buffer.from(`${data.readUInt16BE(0)}`) }],
  [4, { name: "ipv4hint", read: addresses(readIpv4), write: writtenAddresses(writeIpv4, 4) }],
  [5, { name: "ech", read: readBase64, write: writeBase64, isQuoted: true }],
  [6, { name: "ipv6hint", read: addresses(readIpv6), write: writtenAddresses(writeIpv6, 16) }],
]);
const numbers = new Map([
  ...[...kinds].map(([key, { name }]) => [name, key] as const),
  ["dohpath", 7] as const,
  ["ohttp", 8] as const,
]);
/** The highest key is reserved. */
const maxKey = 65_534;

const parameter = /\s*([a-z0-9-]+)(?:=(?:"((?:[^"\\]|\\.)*)"|((?:[^\s"\\]|\\.)+)))?(?=\s|$)/gisuy;

/** Reads `key=value` or `key`, several times. Returns the data by key. Throws `BadValue`. */
export function readParameters(text: string): Map<number, Buffer> {
  const read = new Map<number, Buffer>();
  let end = 0;
  for (const match of text.matchAll(parameter)) {
    const [whole, name = "", quoted, bare] = match;
    const key = readKey(name);
    if (read.has(key)) throw new BadValue(`The parameter ${name} is there twice`);
    read.set(key, readData(key, bytesOf(quoted ?? bare ?? ""), name));
    end = match.index + whole.length;
  }
  if (text.slice(end).trim() !== "")
    throw new BadValue(`${quoteForMessage(text.slice(end).trim())} is not a parameter, such as alpn="h3,h2"`);
  return read;
}

function readData(key: number, value: Buffer, name: string): Buffer {
  const kind = kinds.get(key);
  if (kind === undefined) return value;
  try {
    if (!/^key\d/i.test(name)) return kind.read(value);
    // After `key4` the data is in wire format, although the key has a name.
    if (kind.read(kind.write(value)).equals(value)) return value;
    throw new BadValue("The value is not in wire format");
  } catch (error) {
    if (error instanceof RangeError) throw new BadValue(`The value of ${name} is too short`);
    if (error instanceof BadValue) throw new BadValue(`${name}: ${error.message}`);
    throw error;
  }
}

export function writeParameter(key: number, data: Buffer): string {
  const { write, isQuoted = false } = kinds.get(key) ?? opaque;
  const name = nameOfKey(key);
  const value = write(data);
  if (value.length === 0) return name;
  const text = value.toString("latin1");
  return `${name}=${!isQuoted && plain.test(text) ? text : quote(value)}`;
}

function readKey(name: string): number {
  const lower = name.toLowerCase();
  const key = numbers.get(lower) ?? Number(/^key(0|[1-9]\d{0,4})$/.exec(lower)?.[1] ?? maxKey + 1);
  if (key <= maxKey) return key;
  throw new BadValue(`${quoteForMessage(name)} is not a parameter. Use ${[...numbers.keys()].join(", ")} or key9`);
}

/** Splits at commas that have no backslash before them. Throws `BadValue`. */
function readList(value: Buffer): Buffer[] {
  const items = value.toString("latin1").match(/(?:[^,\\]|\\[,\\])+|,,|^,|,$/gsu) ?? [];
  if (items.some((item) => /^,/.test(item)) || items.length === 0) throw new BadValue("The list has an empty item");
  if (items.join(",").length !== value.length) throw new BadValue("A backslash must be before a comma or a backslash");
  return items.map((item) => Buffer.from(item.replace(/\\(.)/gsu, "$1"), "latin1"));
}

function writeList(items: readonly Buffer[]): Buffer {
  return Buffer.from(items.map((item) => item.toString("latin1").replace(/[,\\]/g, "\\$&")).join(","), "latin1");
}

function readMandatory(value: Buffer): Buffer {
  const listed = readList(value).map((name) => readKey(name.toString("latin1")));
  if (new Set(listed).size < listed.length) throw new BadValue("A key is listed twice");
  if (listed.includes(keys.mandatory)) throw new BadValue("The key mandatory can't be listed");
  return Buffer.concat(listed.toSorted((one, other) => one - other).map(uint16));
}

function writeMandatory(data: Buffer): Buffer {
  return writeList(listKeys(data).map((key) => Buffer.from(nameOfKey(key))));
}

export function nameOfKey(key: number): string {
  return kinds.get(key)?.name ?? `key${key}`;
}

/** The keys that the value of `mandatory` lists. */
export function listKeys(data: Buffer): number[] {
  return Array.from({ length: data.length / 2 }, (_, index) => data.readUInt16BE(2 * index));
}

function readProtocols(value: Buffer): Buffer {
  const protocols = readList(value);
  if (protocols.some(({ length }) => length > 255)) throw new BadValue("A protocol is longer than 255 bytes");
  return Buffer.concat(protocols.flatMap((protocol) => [Buffer.of(protocol.length), protocol]));
}

function writeProtocols(data: Buffer): Buffer {
  const protocols: Buffer[] = [];
  for (let at = 0; at < data.length; at += 1 + data.readUInt8(at)) {
    protocols.push(data.subarray(at + 1, at + 1 + data.readUInt8(at)));
  }
  return writeList(protocols);
}

function readNothing(value: Buffer): Buffer {
  if (value.length > 0) throw new BadValue("It has no value");
  return value;
}

function readPort(value: Buffer): Buffer {
  return uint16(wholeNumber(value.toString("latin1"), "port", 65_535));
}

function readBase64(value: Buffer): Buffer {
  const text = value.toString("latin1");
  const data = Buffer.from(text, "base64");
  if (data.length === 0 || data.toString("base64") !== text) throw new BadValue("The value must be Base64");
  return data;
}

function writeBase64(data: Buffer): Buffer {
  return Buffer.from(data.toString("base64"));
}

function addresses(read: (value: string) => Buffer): (value: Buffer) => Buffer {
  return (value) => Buffer.concat(readList(value).map((item) => read(item.toString("latin1"))));
}

function writtenAddresses(write: (data: Buffer) => string, bytes: number): (data: Buffer) => Buffer {
  return (data) => {
    const count = Math.ceil(data.length / bytes);
    const all = Array.from({ length: count }, (_, index) => data.subarray(index * bytes, (index + 1) * bytes));
    return Buffer.from(all.map(write).join(","));
  };
}
