/** Names in record data, which is stored uncompressed. */
import { type Name, readName, writeName } from "../names.ts";
import { BadValue } from "./badValue.ts";
import { readWords } from "./words.ts";

export function nameBytes(name: Name): Buffer {
  return Buffer.from(`${name}\0`, "latin1");
}

export function uint16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}

/** Reads the uncompressed name at `at`. */
export function nameAt(rdata: Buffer, at: number): Name {
  let end = at;
  for (let length = rdata[end] ?? 0; length > 0; length = rdata[end] ?? 0) end += 1 + length;
  return rdata.toString("latin1", at, end);
}

/** Writes the name at `at`. Its letters may be capitals only if the data was written in the generic form. */
export function writeNameAt(rdata: Buffer, at: number): string {
  return writeName(nameAt(rdata, at).replace(/[A-Z]/g, (letter) => letter.toLowerCase()));
}

/** The offset after the name at `at`. */
export function endOfName(rdata: Buffer, at: number): number {
  return at + nameAt(rdata, at).length + 1;
}

/** Splits a value into words, as many as `form` has. Throws `BadValue`, which names `form`. */
export function exactWords(value: string, form: string): string[] {
  const words = readWords(value).map(({ bytes }) => bytes.toString("latin1"));
  if (words.length !== form.split(" ").length) throw new BadValue(`Expected ${form}`);
  return words;
}

export function wholeNumber(word: string | undefined, what: string, most: number): number {
  if (word === undefined || !/^\d{1,10}$/.test(word) || Number(word) > most) {
    throw new BadValue(`The ${what} must be a whole number from 0 to ${most}`);
  }
  return Number(word);
}

const hostLabel = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

/** Reads a host name: no underscores, and no hyphen at the start or end of a label. Throws `BadValue`. */
export function readHost(word: string | undefined): Name {
  const name = readName(word ?? "");
  for (const part of writeName(name).slice(0, -1).split(".")) {
    if (part !== "" && !hostLabel.test(part)) throw new BadValue(`${part} can't be part of a host name`);
  }
  return name;
}
