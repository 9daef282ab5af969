/**
 * Parses PHP's `serialize` format into JSON-like values. Complete, unlike libraries, which fail on infinity, enum cases
 * and references: one such value in an event's arguments would hide all other events.
 */

/** Deeper nesting only occurs in values written to exhaust the stack. */
const maxDepth = 200;

class BadPhpValue extends Error {
  override readonly name = "BadPhpValue";
}

interface Reader {
  readonly bytes: Buffer;
  position: number;
}

/** Reads up to the next `mark`, and skips it. */
function readUntil(reader: Reader, mark: string): string {
  const end = reader.bytes.indexOf(mark, reader.position);
  if (end === -1) throw new BadPhpValue(`Expected ${mark} after byte ${reader.position}`);
  const text = reader.bytes.toString("utf8", reader.position, end);
  reader.position = end + mark.length;
  return text;
}

function expect(reader: Reader, mark: string): void {
  const end = reader.position + mark.length;
  if (reader.bytes.toString("latin1", reader.position, end) !== mark) {
    throw new BadPhpValue(`Expected ${mark} at byte ${reader.position}`);
  }
  reader.position = end;
}

function length(reader: Reader): number {
  const text = readUntil(reader, ":");
  if (!/^\d{1,10}$/.test(text)) throw new BadPhpValue(`Expected a length before byte ${reader.position}`);
  return Number(text);
}

/** Reads a length, and that many bytes between `open` and `close`. */
function enclosed(reader: Reader, open: string, close: string): string {
  const count = length(reader);
  expect(reader, open);
  const start = reader.position;
  reader.position += count;
  expect(reader, close);
  return reader.bytes.toString("utf8", start, start + count);
}

/** Parses a number. Numbers that JSON can't express stay text. */
function numberOf(text: string): number | string {
  const number = Number(text);
  return Number.isSafeInteger(number) || (Number.isFinite(number) && !/^-?\d+$/.test(text)) ? number : text;
}

function pairs(reader: Reader, depth: number): (readonly [key: string, value: unknown])[] {
  const count = length(reader);
  expect(reader, "{");
  const found: (readonly [string, unknown])[] = [];
  while (found.length < count) {
    const key = valueAt(reader, depth);
    if (typeof key !== "string" && typeof key !== "number")
      throw new BadPhpValue(`Expected a key before byte ${reader.position}`);
    found.push([String(key), valueAt(reader, depth)]);
  }
  expect(reader, "}");
  return found;
}

function arrayAt(reader: Reader, depth: number): unknown {
  const found = pairs(reader, depth);
  const isList = found.every(([key], index) => key === String(index));
  return isList ? found.map(([, value]) => value) : Object.fromEntries(found);
}

/** Reads the fields of an object, without the prefixes of private and protected ones. */
function objectAt(reader: Reader, depth: number): unknown {
  enclosed(reader, '"', '":');
  const fields = pairs(reader, depth).map(([key, value]) => [key.slice(key.lastIndexOf("\0") + 1), value] as const);
  return Object.fromEntries(fields);
}

/** Skips an object with a custom serialization format. */
function customFormatAt(reader: Reader): null {
  enclosed(reader, '"', '":');
  enclosed(reader, "{", "}");
  return null;
}

function valueAt(reader: Reader, before: number): unknown {
  const depth = before + 1;
  if (depth > maxDepth) throw new BadPhpValue("Too deep");
  const kind = reader.bytes.toString("latin1", reader.position, reader.position + 2);
  reader.position += 2;
  if (kind === "N;") return null;
  if (kind === "b:") return readUntil(reader, ";") === "1";
  if (kind === "i:" || kind === "d:") return numberOf(readUntil(reader, ";"));
  if (kind === "s:" || kind === "E:") return enclosed(reader, '"', '";');
  if (kind === "a:") return arrayAt(reader, depth);
  if (kind === "O:") return objectAt(reader, depth);
  if (kind === "C:") return customFormatAt(reader);
  if (kind !== "R:" && kind !== "r:") throw new BadPhpValue(`Unknown value at byte ${reader.position - 2}`);
  // A reference to another value; which one is not needed.
  readUntil(reader, ";");
  return null;
}

/**
 * Parses a value. Lists become arrays; other arrays and objects become objects; references and objects with a custom
 * format become null. Throws `BadPhpValue`.
 */
export function readPhpValue(stored: Uint8Array): unknown {
  return valueAt({ bytes: Buffer.from(stored), position: 0 }, 0);
}
