/** Durations and times of analytics, in the reader's time zone and locale. */
import { type AnalyticsRange, analyticsRanges } from "../../../api/analytics.ts";

const milliseconds = new Intl.NumberFormat(undefined, {
  style: "unit",
  unit: "millisecond",
  maximumSignificantDigits: 3,
});
const seconds = new Intl.NumberFormat(undefined, { style: "unit", unit: "second", maximumSignificantDigits: 3 });

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

const hour = 3_600_000;

/**
 * The beginning of a step. A day is named by its middle: the API's days begin at full hours of UTC, and hence just before
 * midnight for some readers, such as those in India, or those whose clocks have been changed since.
 */
export const stepText = (range: AnalyticsRange, begins: number): string =>
  ticks[range].format(analyticsRanges[range].step === "day" ? begins + 12 * hour : begins);

export const zoneName = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;
