/** Values of records that consist of a name or end with one: CNAME, NS, PTR, MX, SRV. */
import { readName, root } from "../names.ts";
import { BadValue } from "./badValue.ts";
import { exactWords, nameBytes, readHost, uint16, wholeNumber, writeNameAt } from "./wire.ts";

/** Reads a target. Allows underscores, as DKIM and certificate validation need them. Throws `BadValue`. */
export function readTarget(value: string): Buffer {
  const [word = ""] = exactWords(value, "name");
  const name = readName(word);
  if (name === root) throw new BadValue("The target can't be the root");
  return nameBytes(name);
}

/** Reads a name server. Throws `BadValue`. */
export function readNameServer(value: string): Buffer {
  const name = readHost(exactWords(value, "name")[0]);
  if (name === root) throw new BadValue("The name server can't be the root");
  return nameBytes(name);
}

export function writeTarget(rdata: Buffer): string {
  return writeNameAt(rdata, 0);
}

/** Reads `10 mail.example.com`, or `0 .` for a name that accepts no mail (RFC 7505). Throws `BadValue`. */
export function readMx(value: string): Buffer {
  const [preference, host] = exactWords(value, "preference name");
  const name = readHost(host);
  const number = wholeNumber(preference, "preference", 65_535);
  if (name === root && number !== 0) throw new BadValue("A null MX record must be 0 .");
  return Buffer.concat([uint16(number), nameBytes(name)]);
}

export function writeMx(rdata: Buffer): string {
  return `${rdata.readUInt16BE(0)} ${writeNameAt(rdata, 2)}`;
}

/** Reads `priority weight port target`. Throws `BadValue`. */
export function readSrv(value: string): Buffer {
  const [priority, weight, port, target] = exactWords(value, "priority weight port target");
  return Buffer.concat([
    uint16(wholeNumber(priority, "priority", 65_535)),
    uint16(wholeNumber(weight, "weight", 65_535)),
    uint16(wholeNumber(port, "port", 65_535)),
    nameBytes(readName(target ?? "")),
  ]);
}

export function writeSrv(rdata: Buffer): string {
  const numbers = [rdata.readUInt16BE(0), rdata.readUInt16BE(2), rdata.readUInt16BE(4)];
  return `${numbers.join(" ")} ${writeNameAt(rdata, 6)}`;
}
