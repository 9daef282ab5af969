import { expect, test } from "vitest";
import { rangeOf } from "./ranges.ts";

test.each([
  ["no header", undefined, null],
  ["the first bytes", "bytes=0-9", { start: 0, end: 9 }],
  ["the rest", "bytes=90-", { start: 90, end: 99 }],
  ["the last bytes", "bytes=-10", { start: 90, end: 99 }],
  ["more last bytes than there are", "bytes=-1000", { start: 0, end: 99 }],
  ["an end beyond the end", "bytes=50-1000", { start: 50, end: 99 }],
  ["one byte", "bytes=99-99", { start: 99, end: 99 }],
  ["a start beyond the end", "bytes=100-", "unsatisfiable"],
  ["no last bytes", "bytes=-0", "unsatisfiable"],
  ["several ranges, which are not supported", "bytes=0-1,5-6", null],
  ["an end before the start", "bytes=9-0", null],
  ["another unit", "lines=0-1", null],
  ["nonsense", "bytes=-", null],
  ["a number that is too long", `bytes=${"9".repeat(16)}-`, null],
])("rangeOf 100 bytes: %s", (_, header, range) => {
  expect(rangeOf(header, 100)).toEqual(range);
});
