import { expect, test } from "vitest";
import { rowDifference } from "./rowDifference.ts";

test.each([
  [{}, {}, null],
  [{ a: 1, b: 0 }, { b: 0, a: 1 }, null],
  [{ a: 5 }, { a: 3 }, "The table a had 5 rows when it was backed up, and had 3 rows when it was restored."],
  [{ a: 1 }, { a: 0 }, "The table a had 1 row when it was backed up, and had 0 rows when it was restored."],
  [{ a: 1 }, {}, "The table a had 1 row when it was backed up, and did not exist when it was restored."],
  [{}, { a: 2 }, "The table a did not exist when it was backed up, and had 2 rows when it was restored."],
  [
    { c: 1, b: 1, a: 1 },
    { a: 1 },
    "The table b had 1 row when it was backed up, and did not exist when it was restored. Other tables that differ: 1.",
  ],
])("%j restored as %j: %s", (counted, restored, sentence) => {
  expect(rowDifference(counted, restored)).toBe(sentence);
});
