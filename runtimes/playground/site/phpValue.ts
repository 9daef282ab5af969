/**
 * Reads what PHP's `serialize` has written, as JSON would have it. All of it: libraries give up on infinity, on cases of
 * enumerations and on references, and one such thing among what some event is given would hide every other event.
 */

/** Deeper nesting only occurs in values written to exhaust the stack. */
const deepest = 200;

export class BadPhpValue extends Error {
  override readonly name = "BadPhpValue";
}

interface Reader {
  readonly bytes: Buffer;
  position: number;
}

/** What is before the next `mark`, which is passed. */
function until(reader: Reader, mark: string): string {
  const end = reader.bytes.indexOf(mark, reader.position);
  if (end === -1) throw new BadPhpValue(`No ${mark} after byte ${reader.position}`);
  const text = reader.bytes.toString("utf8", reader.position, end);
  reader.position = end + mark.length;
  return text;
}

function expect(reader: Reader, mark: string): void {
  const end = reader.position + mark.length;
  if (reader.bytes.toString("latin1", reader.position, end) !== mark) {
    throw new BadPhpValue(`Byte ${reader.position} is no ${mark}`);
  }
  reader.position = end;
}

function length(reader: Reader): number {
  const text = until(reader, ":");
  if (!/^\d{1,10}$/.test(text)) throw new BadPhpValue(`No length before byte ${reader.position}`);
  return Number(text);
}

/** So many bytes between these marks. */
function enclosed(reader: Reader, open: string, close: string): string {
  const count = length(reader);
  expect(reader, open);
  const start = reader.position;
  reader.position += count;
  expect(reader, close);
  return reader.bytes.toString("utf8", start, start + count);
}

/** Numbers that JSON has not are given as texts. */
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
    if (typeof key !== "string" && typeof key !== "number") throw new BadPhpValue(`No key before ${reader.position}`);
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

/** Its fields, without what tells that they are private. */
function objectAt(reader: Reader, depth: number): unknown {
  enclosed(reader, '"', '":');
  const fields = pairs(reader, depth).map(([key, value]) => [key.slice(key.lastIndexOf("\0") + 1), value] as const);
  return Object.fromEntries(fields);
}

/** An object that has written itself, in whatever form. */
function ownFormAt(reader: Reader): null {
  enclosed(reader, '"', '":');
  enclosed(reader, "{", "}");
  return null;
}

function valueAt(reader: Reader, before: number): unknown {
  const depth = before + 1;
  if (depth > deepest) throw new BadPhpValue("Too deep");
  const kind = reader.bytes.toString("latin1", reader.position, reader.position + 2);
  reader.position += 2;
  if (kind === "N;") return null;
  if (kind === "b:") return until(reader, ";") === "1";
  if (kind === "i:" || kind === "d:") return numberOf(until(reader, ";"));
  if (kind === "s:" || kind === "E:") return enclosed(reader, '"', '";');
  if (kind === "a:") return arrayAt(reader, depth);
  if (kind === "O:") return objectAt(reader, depth);
  if (kind === "C:") return ownFormAt(reader);
  if (kind !== "R:" && kind !== "r:") throw new BadPhpValue(`Byte ${reader.position - 2} begins no value`);
  // The same as another value: which one does not matter to anybody here.
  until(reader, ";");
  return null;
}

/**
 * Lists become arrays, other arrays and objects become objects with these keys; references and objects in a form of their
 * own become null. Throws `BadPhpValue`.
 */
export function readPhpValue(stored: Uint8Array): unknown {
  return valueAt({ bytes: Buffer.from(stored), position: 0 }, 0);
}
