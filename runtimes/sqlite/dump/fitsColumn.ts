/**
 * Checks whether a column type stores a value unchanged. SQLite accepts values that MySQL would truncate, clamp or
 * replace by zeros, so every value is checked against the declared type.
 */
import { isUtf8 } from "node:buffer";
import type { ColumnType } from "./columnType.ts";

/** A value from SQLite. Texts are bytes, because not all of them are UTF-8. */
export type Value = null | bigint | number | Uint8Array;
type Present = Exclude<Value, null>;

const bits: Readonly<Record<string, bigint>> = { tinyint: 8n, smallint: 16n, mediumint: 24n, int: 32n, bigint: 64n };
const maxTextBytes: Readonly<Record<string, number>> = {
  tinytext: 255,
  tinyblob: 255,
  text: 65_535,
  blob: 65_535,
  mediumtext: 16_777_215,
  mediumblob: 16_777_215,
};
const largestFloat = 3.4e38;
/** Longer texts exceed every `varchar`, whatever their characters are. */
const countedBytes = 65_535;

/** Returns the text, or null if it is not UTF-8. */
function textOf(value: Present): string | null {
  if (!(value instanceof Uint8Array)) return String(value);
  return isUtf8(value) ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("utf8") : null;
}

export function byteCount(value: Present): number {
  return value instanceof Uint8Array ? value.byteLength : String(value).length;
}

/** Number of characters as MySQL counts them; for very long texts the number of bytes. */
export function characterCount(value: Present): number {
  if (!(value instanceof Uint8Array) || value.byteLength > countedBytes) return byteCount(value);
  let characters = 0;
  for (const byte of value) if ((byte & 0xc0) !== 0x80) characters += 1;
  return characters;
}

function integerOf(value: Present): bigint | null {
  if (typeof value === "bigint") return value;
  const text = value instanceof Uint8Array && value.byteLength <= 21 ? textOf(value) : null;
  return text !== null && /^-?\d{1,20}$/.test(text) ? BigInt(text) : null;
}

function numberOf(value: Present): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "bigint") return BigInt(Number(value)) === value ? Number(value) : null;
  const text = value.byteLength <= 60 ? textOf(value) : null;
  return text !== null && /^[+-]?\d+(\.\d*)?$/.test(text) ? Number(text) : null;
}

function integerChecker({ base, isUnsigned }: ColumnType): (value: Present) => boolean {
  const size = bits[base] ?? 64n;
  const [min, max] = isUnsigned ? [0n, 2n ** size - 1n] : [-(2n ** (size - 1n)), 2n ** (size - 1n) - 1n];
  return (value) => {
    const integer = integerOf(value);
    return integer !== null && integer >= min && integer <= max;
  };
}

/** Fractions of a decimal may be rounded: that is the purpose of its type. */
function numberChecker({ base, length, scale, isUnsigned }: ColumnType): (value: Present) => boolean {
  const limit = base === "decimal" ? 10 ** ((length ?? 10) - (scale ?? 0)) : base === "float" ? largestFloat : Infinity;
  return (value) => {
    // A decimal can have more digits than a JavaScript number.
    const number = base === "decimal" && typeof value === "bigint" ? Number(value) : numberOf(value);
    return number !== null && Math.abs(number) < limit && !(isUnsigned && number < 0);
  };
}

function textChecker({ base, length }: ColumnType): (value: Present) => boolean {
  const max = maxTextBytes[base];
  if (max !== undefined) return (value) => byteCount(value) <= max;
  if (length === null) return () => true;
  // MySQL pads `char` with spaces and returns it without trailing spaces.
  const isKept = (value: Present) => base !== "char" || !(value instanceof Uint8Array) || value.at(-1) !== 0x20;
  return (value) => (byteCount(value) <= length || characterCount(value) <= length) && isKept(value);
}

function binaryChecker({ base, length }: ColumnType): (value: Present) => boolean {
  const max = maxTextBytes[base] ?? length;
  if (max === null) return () => true;
  return (value) => (base === "binary" ? byteCount(value) === max : byteCount(value) <= max);
}

/** Only texts pass: MySQL would take a number for the index of a choice. */
function choiceChecker({ base, choices }: ColumnType): (value: Present) => boolean {
  const known = new Set(["", ...choices]);
  return (value) => {
    const text = value instanceof Uint8Array ? textOf(value) : null;
    return text !== null && (base === "set" ? text.split(",").every((one) => known.has(one)) : known.has(text));
  };
}

function isJson(value: Present): boolean {
  const text = value instanceof Uint8Array ? textOf(value) : null;
  if (text === null) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const datePattern = /^(\d{4})-(\d\d)-(\d\d)(?: ([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,6}))?)?$/;

/** Parses a date, with or without a time. Month and day may be zero. Null if MySQL would not accept it. */
function partsOf(
  value: Present,
): { readonly year: number; readonly hasTime: boolean; readonly fraction: number } | null {
  const text = value instanceof Uint8Array && value.byteLength <= 26 ? textOf(value) : null;
  const [, year, month, day, hour, , , fraction = ""] = (text === null ? null : datePattern.exec(text)) ?? [];
  if (year === undefined || Number(month) > 12) return null;
  const daysInMonth =
    Number(month) === 0 ? 31 : new Date(Date.UTC(2000 + (Number(year) % 400), Number(month), 0)).getUTCDate();
  if (Number(day) > daysInMonth) return null;
  return { year: Number(year), hasTime: hour !== undefined, fraction: fraction.length };
}

/** Whether `datetime(6)` stores it unchanged. */
export function isDate(value: Present): boolean {
  return partsOf(value) !== null;
}

function dateChecker({ base, length }: ColumnType): (value: Present) => boolean {
  return (value) => {
    const parts = partsOf(value);
    if (parts === null) return false;
    if (base === "date") return !parts.hasTime;
    // Timestamps end early in 2038.
    const isInRange = base !== "timestamp" || parts.year === 0 || (parts.year > 1970 && parts.year < 2038);
    return isInRange && parts.hasTime && parts.fraction <= (length ?? 0);
  };
}

function isTime(value: Present): boolean {
  const text = value instanceof Uint8Array && value.byteLength <= 17 ? textOf(value) : null;
  return text !== null && /^-?([0-7]?\d\d|8[0-2]\d):[0-5]\d:[0-5]\d$/.test(text);
}

function isYear(value: Present): boolean {
  const integer = integerOf(value);
  return integer === 0n || (integer !== null && integer >= 1901n && integer <= 2155n);
}

/** Returns the check for a type. UTF-8 is checked separately. */
export function createChecker(type: ColumnType): (value: Present) => boolean {
  switch (type.family) {
    case "integer":
      return integerChecker(type);
    case "number":
      return numberChecker(type);
    case "bit":
      return (value) => typeof value === "bigint" && value >= 0n && value < 2n ** BigInt(type.length ?? 1);
    case "text":
      return textChecker(type);
    case "binary":
      return binaryChecker(type);
    case "choice":
      return choiceChecker(type);
    case "json":
      return isJson;
    case "date":
      return dateChecker(type);
    case "time":
      return isTime;
    case "year":
      return isYear;
  }
}
