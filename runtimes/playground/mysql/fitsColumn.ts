/**
 * Whether a column of a type keeps a value as it is. SQLite refuses nothing that MySQL would cut off, round to its largest
 * number or replace by zeros, so every value is asked about before a type is believed.
 */
import { isUtf8 } from "node:buffer";
import type { ColumnType } from "./columnType.ts";

/** How values come from SQLite: a text as its bytes, because not every one is UTF-8. */
export type Value = null | bigint | number | Uint8Array;
type Present = Exclude<Value, null>;

const bits: Readonly<Record<string, bigint>> = { tinyint: 8n, smallint: 16n, mediumint: 24n, int: 32n, bigint: 64n };
const longestText: Readonly<Record<string, number>> = {
  tinytext: 255,
  tinyblob: 255,
  text: 65_535,
  blob: 65_535,
  mediumtext: 16_777_215,
  mediumblob: 16_777_215,
};
const largestFloat = 3.4e38;
/** Beyond it a text is longer than any `varchar`, whatever its letters are. */
const countedBytes = 65_535;

/** Null if it is not UTF-8. */
export function textOf(value: Present): string | null {
  if (!(value instanceof Uint8Array)) return String(value);
  return isUtf8(value) ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("utf8") : null;
}

export function bytesOf(value: Present): number {
  return value instanceof Uint8Array ? value.byteLength : String(value).length;
}

/** How many letters it has, as MySQL counts them; more than that for a very long one. */
export function lettersOf(value: Present): number {
  if (!(value instanceof Uint8Array) || value.byteLength > countedBytes) return bytesOf(value);
  let letters = 0;
  for (const byte of value) if ((byte & 0xc0) !== 0x80) letters += 1;
  return letters;
}

function wholeOf(value: Present): bigint | null {
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

function integerTaker({ base, isUnsigned }: ColumnType): (value: Present) => boolean {
  const size = bits[base] ?? 64n;
  const [least, most] = isUnsigned ? [0n, 2n ** size - 1n] : [-(2n ** (size - 1n)), 2n ** (size - 1n) - 1n];
  return (value) => {
    const whole = wholeOf(value);
    return whole !== null && whole >= least && whole <= most;
  };
}

/** A decimal number is rounded as MySQL rounds it, which is what its type is for. */
function numberTaker({ base, length, scale, isUnsigned }: ColumnType): (value: Present) => boolean {
  const limit = base === "decimal" ? 10 ** ((length ?? 10) - (scale ?? 0)) : base === "float" ? largestFloat : Infinity;
  return (value) => {
    // A decimal has more digits than a number of ours.
    const number = base === "decimal" && typeof value === "bigint" ? Number(value) : numberOf(value);
    return number !== null && Math.abs(number) < limit && !(isUnsigned && number < 0);
  };
}

function textTaker({ base, length }: ColumnType): (value: Present) => boolean {
  const most = longestText[base];
  if (most !== undefined) return (value) => bytesOf(value) <= most;
  if (length === null) return () => true;
  // What MySQL pads with spaces it gives back without them.
  const isKept = (value: Present) => base !== "char" || !(value instanceof Uint8Array) || value.at(-1) !== 0x20;
  return (value) => (bytesOf(value) <= length || lettersOf(value) <= length) && isKept(value);
}

function binaryTaker({ base, length }: ColumnType): (value: Present) => boolean {
  const most = longestText[base] ?? length;
  if (most === null) return () => true;
  return (value) => (base === "binary" ? bytesOf(value) === most : bytesOf(value) <= most);
}

/** None that is a number stands for a choice by its place. */
function choiceTaker({ base, choices }: ColumnType): (value: Present) => boolean {
  const known = new Set(["", ...choices]);
  return (value) => {
    const text = value instanceof Uint8Array ? textOf(value) : null;
    return text !== null && (base === "set" ? text.split(",").every((one) => known.has(one)) : known.has(text));
  };
}

function takesJson(value: Present): boolean {
  const text = value instanceof Uint8Array ? textOf(value) : null;
  if (text === null) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const moment = /^(\d{4})-(\d\d)-(\d\d)(?: ([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,6}))?)?$/;

/** A date that MySQL knows, parts of which may be zero, with or without a time. Null: none. */
function partsOf(
  value: Present,
): { readonly year: number; readonly hasTime: boolean; readonly fraction: number } | null {
  const text = value instanceof Uint8Array && value.byteLength <= 26 ? textOf(value) : null;
  const [, year, month, day, hour, , , fraction = ""] = (text === null ? null : moment.exec(text)) ?? [];
  if (year === undefined || Number(month) > 12) return null;
  const daysInMonth =
    Number(month) === 0 ? 31 : new Date(Date.UTC(2000 + (Number(year) % 400), Number(month), 0)).getUTCDate();
  if (Number(day) > daysInMonth) return null;
  return { year: Number(year), hasTime: hour !== undefined, fraction: fraction.length };
}

/** Whether `datetime(6)` keeps it. */
export function isMoment(value: Present): boolean {
  return partsOf(value) !== null;
}

function momentTaker({ base, length }: ColumnType): (value: Present) => boolean {
  return (value) => {
    const parts = partsOf(value);
    if (parts === null) return false;
    if (base === "date") return !parts.hasTime;
    // What a timestamp can hold ends early in 2038.
    const isInRange = base !== "timestamp" || parts.year === 0 || (parts.year > 1970 && parts.year < 2038);
    return isInRange && parts.hasTime && parts.fraction <= (length ?? 0);
  };
}

function takesTime(value: Present): boolean {
  const text = value instanceof Uint8Array && value.byteLength <= 17 ? textOf(value) : null;
  return text !== null && /^-?([0-7]?\d\d|8[0-2]\d):[0-5]\d:[0-5]\d$/.test(text);
}

function takesYear(value: Present): boolean {
  const whole = wholeOf(value);
  return whole === 0n || (whole !== null && whole >= 1901n && whole <= 2155n);
}

/** Returns the question for one column. Whether a text is UTF-8 is another one. */
export function checkerOf(type: ColumnType): (value: Present) => boolean {
  switch (type.family) {
    case "integer":
      return integerTaker(type);
    case "number":
      return numberTaker(type);
    case "bit":
      return (value) => typeof value === "bigint" && value >= 0n && value < 2n ** BigInt(type.length ?? 1);
    case "text":
      return textTaker(type);
    case "binary":
      return binaryTaker(type);
    case "choice":
      return choiceTaker(type);
    case "json":
      return takesJson;
    case "moment":
      return momentTaker(type);
    case "time":
      return takesTime;
    case "year":
      return takesYear;
  }
}
