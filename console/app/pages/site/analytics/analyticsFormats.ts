/** Numbers and times of analytics, in the reader's time zone and locale. */
import type { AnalyticsRange } from "../../../api/analytics.ts";

const numbers = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const milliseconds = new Intl.NumberFormat(undefined, {
  style: "unit",
  unit: "millisecond",
  maximumSignificantDigits: 3,
});
const seconds = new Intl.NumberFormat(undefined, { style: "unit", unit: "second", maximumSignificantDigits: 3 });

export const numberText = (value: number): string => numbers.format(value);

/** Short enough for an axis. */
export const compactText = (value: number): string => compact.format(value);

export const secondsText = (value: number): string => seconds.format(value);

/** `value`: milliseconds. */
export const timeText = (value: number): string =>
  value < 1_000 ? milliseconds.format(value) : seconds.format(value / 1_000);

const ticks = {
  "1h": new Intl.DateTimeFormat(undefined, { timeStyle: "short" }),
  "24h": new Intl.DateTimeFormat(undefined, { weekday: "short", hour: "numeric", minute: "2-digit" }),
  "7d": new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", hour: "numeric", minute: "2-digit" }),
  "30d": new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" }),
} as const satisfies Record<AnalyticsRange, Intl.DateTimeFormat>;

/** The beginning of a step. */
export const stepText = (range: AnalyticsRange, begins: number): string => ticks[range].format(begins);

export const zoneName = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;
