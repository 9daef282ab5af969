/** Values of records that are numbers followed by a digest or a certificate in hexadecimal: DS, SSHFP and TLSA. */
import { BadValue } from "./badValue.ts";
import { exactWords, wholeNumber } from "./wire.ts";

interface NumberField {
  readonly name: string;
  readonly bytes: 1 | 2;
}

interface Format {
  readonly numbers: readonly NumberField[];
  readonly data: string;
  /** Length of the data in bytes by the last number, which is the digest's type. Other types may have any length. */
  readonly lengths: ReadonlyMap<number, number>;
}

const byte = (name: string): NumberField => ({ name, bytes: 1 });
const [sha1, sha256, sha384, sha512] = [20, 32, 48, 64];

const ds: Format = {
  numbers: [{ name: "key tag", bytes: 2 }, byte("algorithm"), byte("digest type")],
  data: "digest",
  lengths: new Map([
    [1, sha1],
    [2, sha256],
    [4, sha384],
  ]),
};
const sshfp: Format = {
  numbers: [byte("algorithm"), byte("fingerprint type")],
  data: "fingerprint",
  lengths: new Map([
    [1, sha1],
    [2, sha256],
  ]),
};
const tlsa: Format = {
  numbers: [byte("usage"), byte("selector"), byte("matching type")],
  data: "data",
  lengths: new Map([
    [1, sha256],
    [2, sha512],
  ]),
};

/** Reads `12345 13 2 8ACB…` (RFC 4034). Throws `BadValue`. */
export const readDs = (value: string): Buffer => read(value, ds);
export const writeDs = (rdata: Buffer): string => write(rdata, ds);

/** Reads `4 2 A1B2…` (RFC 4255). Throws `BadValue`. */
export const readSshfp = (value: string): Buffer => read(value, sshfp);
export const writeSshfp = (rdata: Buffer): string => write(rdata, sshfp);

/** Reads `3 1 1 0D6F…` (RFC 6698). Throws `BadValue`. */
export const readTlsa = (value: string): Buffer => read(value, tlsa);
export const writeTlsa = (rdata: Buffer): string => write(rdata, tlsa);

function read(value: string, { numbers, data, lengths }: Format): Buffer {
  const words = value.trim().split(/\s+/);
  const digits = words.slice(numbers.length).join("");
  const form = [...numbers, { name: data }].map(({ name }) => name.replace(" ", "-")).join(" ");
  const fields = exactWords([...words.slice(0, numbers.length), digits].join(" "), form);
  const parts = numbers.map(({ name, bytes }, index) => {
    const part = Buffer.alloc(bytes);
    part.writeUIntBE(wholeNumber(fields[index], name, 2 ** (8 * bytes) - 1), 0, bytes);
    return part;
  });
  const kind = Number(fields[numbers.length - 1]);
  return Buffer.concat([...parts, readHex(digits, data, lengths.get(kind), numbers.at(-1)?.name ?? "")]);
}

function readHex(digits: string, data: string, length: number | undefined, kind: string): Buffer {
  if (!/^(?:[0-9a-f]{2})+$/i.test(digits))
    throw new BadValue(`The ${data} must be hexadecimal, with an even number of digits`);
  if (length !== undefined && digits.length !== 2 * length) {
    throw new BadValue(`With this ${kind}, the ${data} must have ${2 * length} digits, not ${digits.length}`);
  }
  return Buffer.from(digits, "hex");
}

function write(rdata: Buffer, { numbers }: Format): string {
  let at = 0;
  const words = numbers.map(({ bytes }) => {
    at += bytes;
    return rdata.readUIntBE(at - bytes, bytes);
  });
  return [...words, rdata.toString("hex", at).toUpperCase()].join(" ");
}
