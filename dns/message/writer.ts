/** Encodes messages with name compression (RFC 1035, 4.1.4). */
import { type Name, parentOf, root } from "../names.ts";
import { typeOfCode } from "../records/recordTypes.ts";
import { endOfName, nameAt } from "../records/wire.ts";
import type { RecordSet } from "../zone.ts";

const classIn = 1;
/** Compression pointers can only point to offsets below this one. */
const pointerLimit = 0x4000;
/** Twice the largest message, because a record that exceeds the limit is detected only after it has been written. */
const bufferBytes = 2 * 65_536;

export interface Writer {
  readonly length: number;
  /** Starts a message with these bytes. `name` is the question's name, which follows the header. */
  begin(start: Buffer, name: Name | null): void;
  /**
   * Writes a record set and returns its number of records. Null if the message would exceed `limit`; nothing is
   * written.
   */
  set(owner: Name, set: RecordSet, limit: number): number | null;
  bytes(content: Buffer): void;
  uint16(value: number, at: number): void;
  readUint16(at: number): number;
  /** A copy of the message. */
  message(): Buffer;
}

export function createWriter(): Writer {
  const buffer = Buffer.allocUnsafeSlow(bufferBytes);
  const offsets = new Map<Name, number>();
  let length = 0;

  function remember(name: Name, at: number): void {
    if (at < pointerLimit && !offsets.has(name)) offsets.set(name, at);
  }

  function writeName(name: Name): void {
    for (let rest = name; rest !== root; rest = parentOf(rest)) {
      const place = offsets.get(rest);
      if (place !== undefined) {
        length = buffer.writeUInt16BE(0xc000 | place, length);
        return;
      }
      remember(rest, length);
      length += buffer.write(rest, length, 1 + rest.charCodeAt(0), "latin1");
    }
    buffer[length] = 0;
    length += 1;
  }

  function writeBytes(content: Buffer, from = 0): void {
    length += content.copy(buffer, length, from);
  }

  function writeData(type: number, record: Buffer): void {
    const names = typeOfCode(type)?.names;
    if (names === undefined) {
      writeBytes(record);
      return;
    }
    length += record.copy(buffer, length, 0, names.skip);
    let at = names.skip;
    for (let index = 0; index < names.count; index += 1) {
      writeName(nameAt(record, at));
      at = endOfName(record, at);
    }
    writeBytes(record, at);
  }

  function writeRecord(owner: Name, { type, ttl }: RecordSet, record: Buffer): void {
    writeName(owner);
    length = buffer.writeUInt16BE(type, length);
    length = buffer.writeUInt16BE(classIn, length);
    length = buffer.writeUInt32BE(ttl, length);
    const sizeAt = length;
    length += 2;
    writeData(type, record);
    buffer.writeUInt16BE(length - sizeAt - 2, sizeAt);
  }

  function rollBack(to: number): void {
    length = to;
    for (const [name, place] of offsets) if (place >= to) offsets.delete(name);
  }

  return {
    get length() {
      return length;
    },
    begin(start, name) {
      offsets.clear();
      length = start.copy(buffer, 0);
      let at = 12;
      for (let rest = name ?? root; rest !== root; rest = parentOf(rest)) {
        remember(rest, at);
        at += 1 + rest.charCodeAt(0);
      }
    },
    set(owner, set, limit) {
      const before = length;
      for (const record of set.records) {
        writeRecord(owner, set, record);
        if (length > limit) {
          rollBack(before);
          return null;
        }
      }
      return set.records.length;
    },
    bytes: (content) => writeBytes(content),
    uint16: (value, at) => {
      buffer.writeUInt16BE(value, at);
    },
    readUint16: (at) => buffer.readUInt16BE(at),
    message: () => Buffer.from(buffer.subarray(0, length)),
  };
}
