import { expect, test } from "vitest";
import { rangeOf } from "./ranges.ts";

test.each([
  ["nothing", undefined, null],
  ["the beginning", "bytes=0-9", { start: 0, end: 9 }],
  ["the rest", "bytes=90-", { start: 90, end: 99 }],
  ["the last bytes", "bytes=-10", { start: 90, end: 99 }],
  ["more than there is at the end", "bytes=-1000", { start: 0, end: 99 }],
  ["an end that is behind the end", "bytes=50-1000", { start: 50, end: 99 }],
  ["one byte", "bytes=99-99", { start: 99, end: 99 }],
  ["what is behind the end", "bytes=100-", "unsatisfiable"],
  ["no bytes at the end", "bytes=-0", "unsatisfiable"],
  ["several parts, which nobody needs", "bytes=0-1,5-6", null],
  ["a part that ends before it begins", "bytes=9-0", null],
  ["another unit", "lines=0-1", null],
  ["nonsense", "bytes=-", null],
  ["a number beyond all files", `bytes=${"9".repeat(16)}-`, null],
])("%s of 100 bytes", (_, header, part) => {
  expect(rangeOf(header, 100)).toEqual(part);
});
