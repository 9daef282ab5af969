/** The form in which a value of any type can be written (RFC 3597): `\# 4 c0000201`. */
import { BadValue } from "./badValue.ts";

interface Format {
  read(value: string): Buffer;
  write(rdata: Buffer): string;
}

const marker = /^\\#(?=\s|$)/;
const form = /^\\#\s+(\d{1,5})((?:\s+[0-9a-f]+)*)$/i;

export function isGeneric(value: string): boolean {
  return marker.test(value.trim());
}

/** Reads the bytes and checks them by writing and reading them in the type's own form. Throws `BadValue`. */
export function readGeneric(value: string, type: Format): Buffer {
  const [, length, words = ""] = form.exec(value.trim()) ?? [];
  if (length === undefined) throw new BadValue("Expected \\#, the number of bytes, and the bytes in hexadecimal");
  const digits = words.replace(/\s+/g, "");
  if (digits.length !== 2 * Number(length))
    throw new BadValue(`${length} bytes have ${2 * Number(length)} hexadecimal digits, not ${digits.length}`);
  const written = Buffer.from(digits, "hex");
  const read = type.read(writeOrRefuse(written, type));
  if (!isSameData(written, read)) throw new BadValue("The bytes are not a value of this type");
  return read;
}

function writeOrRefuse(rdata: Buffer, type: Format): string {
  try {
    return type.write(rdata);
  } catch (error) {
    if (error instanceof RangeError) throw new BadValue("The bytes are too few for a value of this type");
    throw error;
  }
}

/** Whether the data is the same, except for the case of names. */
function isSameData(one: Buffer, other: Buffer): boolean {
  return one.toString("latin1").toLowerCase() === other.toString("latin1").toLowerCase();
}
