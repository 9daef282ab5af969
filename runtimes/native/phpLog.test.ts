/** What PHP's log looks like, and what a script's endless log may cost. */
import { expect, test } from "vitest";
import { createPhpLog } from "./phpLog.ts";

test("an endless line is passed on in pieces", () => {
  const log = createPhpLog();
  const piece = Buffer.alloc(32_768, "x");
  const taken = [1, 2, 3, 4].map(() => log.take(piece).length);
  expect(taken).toEqual([0, 0, 98_304, 0]);
  expect(log.end().toString()).toBe(`${"x".repeat(32_768)}\n`);
});
