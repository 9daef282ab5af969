/** Numbers in the reader's locale. */

const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const decimal = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const percents = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 2 });
const compact = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });

/** Without fraction: `12,345`. */
export const numberText = (value: number): string => whole.format(value);

/** With one digit of a fraction at most: `12,345.6`. */
export const decimalText = (value: number): string => decimal.format(value);

/** `percent`: 100 is all. */
export const percentText = (percent: number): string => percents.format(percent / 100);

/** Short enough for an axis: `12.3K`. */
export const compactText = (value: number): string => compact.format(value);
