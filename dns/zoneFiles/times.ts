/** Times in zone files: seconds, or numbers with units such as `1h30m`. */
import { quoteForMessage } from "../names.ts";
import { BadValue } from "../records/badValue.ts";

export const timePattern = /^(?:\d+[smhdw])+$|^\d+$/i;
const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };
const maxTtl = 2 ** 31 - 1;

/** Parses a time. Returns seconds. Throws `BadValue`. */
export function parseTime(word: string): number {
  if (!timePattern.test(word)) throw new BadValue(`${quoteForMessage(word)} is not a time, such as 3600 or 1h`);
  const parts = word.toLowerCase().match(/\d+[smhdw]?/g) ?? [];
  const sum = parts.reduce((total, part) => total + Number.parseInt(part, 10) * (seconds[part.slice(-1)] ?? 1), 0);
  if (sum > maxTtl) throw new BadValue(`${quoteForMessage(word)} is longer than ${maxTtl} seconds`);
  return sum;
}
