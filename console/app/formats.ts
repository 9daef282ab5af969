/** Dates, sizes and durations, in the reader's time zone and locale. */
import { decimalText } from "./numberFormats.ts";

const dates = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const days = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

/** `value`: ISO text, or milliseconds. */
export const dateText = (value: string | number): string => dates.format(new Date(value));

export const dayText = (value: string | number): string => days.format(new Date(value));

const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

export function sizeText(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  const style = { style: "unit", unit: units[power], maximumFractionDigits: power === 0 ? 0 : 1 } as const;
  return new Intl.NumberFormat(undefined, style).format(bytes / 1000 ** power);
}

/** Seconds between two ISO times, or null if one is missing. */
export function durationText(from: string | null, to: string | null): string | null {
  return from === null || to === null ? null : decimalText((Date.parse(to) - Date.parse(from)) / 1000);
}

const longUnits = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

/** A length of time in its largest unit: `3 hours`. */
export function lengthText(length: number): string {
  const [unit, unitSeconds] = longUnits.find(([, size]) => length >= size) ?? (["second", 1] as const);
  const style = { style: "unit", unit, unitDisplay: "long", maximumFractionDigits: 0 } as const;
  return new Intl.NumberFormat(undefined, style).format(Math.floor(length / unitSeconds));
}
