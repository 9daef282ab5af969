/** Writes a value for an `INSERT`, always on one line. */
import { isUtf8 } from "node:buffer";
import { type ColumnType, quotedText } from "./columnType.ts";
import type { Value } from "./fitsColumn.ts";

/** JavaScript strings are limited to about 500 million characters; SQLite values are not. */
const maxStringBytes = 1 << 20;

const escapes = new Map([
  [0x00, 0x30],
  [0x0a, 0x6e],
  [0x0d, 0x72],
  [0x1a, 0x5a],
  [0x27, 0x27],
  [0x5c, 0x5c],
]);
const quote = 0x27;
const backslash = 0x5c;

/** Like `quotedText`, for bytes. */
function quotedBytes(bytes: Uint8Array): Buffer {
  let escaped = 0;
  for (const byte of bytes) if (escapes.has(byte)) escaped += 1;
  const quoted = Buffer.allocUnsafe(bytes.byteLength + escaped + 2);
  let at = quoted.writeUInt8(quote);
  for (const byte of bytes) {
    const letter = escapes.get(byte);
    if (letter !== undefined) at = quoted.writeUInt8(backslash, at);
    at = quoted.writeUInt8(letter ?? byte, at);
  }
  quoted.writeUInt8(quote, at);
  return quoted;
}

function hexadecimal(bytes: Uint8Array): string | Buffer {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength <= maxStringBytes) return `0x${buffer.toString("hex")}`;
  const pieces = [Buffer.from("0x")];
  for (let start = 0; start < buffer.length; start += maxStringBytes) {
    pieces.push(Buffer.from(buffer.subarray(start, start + maxStringBytes).toString("hex"), "latin1"));
  }
  return Buffer.concat(pieces);
}

/** Writes a value. The type must be able to store it (`adaptTable.ts`). */
export function literal(value: Value, { family }: ColumnType): string | Buffer {
  if (value === null) return "NULL";
  if (typeof value === "bigint") return String(value);
  // MySQL has no infinity: the largest number replaces it.
  if (typeof value === "number") return String(Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value)));
  if (value.byteLength === 0) return "''";
  if (family === "binary" || !isUtf8(value)) return hexadecimal(value);
  if (value.byteLength > maxStringBytes) return quotedBytes(value);
  return quotedText(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("utf8"));
}
