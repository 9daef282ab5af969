import { expect, test } from "vitest";
import { isTooSlow } from "./pace.ts";

const pace = { graceSeconds: 10, requestSeconds: 300 };

test.each([
  ["nothing arrives within the grace period", 10_000, 0, null, false],
  ["nothing arrives after it", 10_001, 0, null, true],
  ["one kilobyte per second arrives", 100_000, 90_000, null, false],
  ["less arrives", 100_000, 89_999, null, true],
  ["a photo arrives over a bad mobile connection", 100_000, 1_600_000, 4_000_000, false],
  ["a large upload arrives at half of the speed that it needs", 100_000, 9_000_000, 60_000_000, false],
  ["a large upload is too far behind", 100_000, 8_999_999, 60_000_000, true],
  ["someone announces much and sends little", 20_000, 20_000, 60_000_000, true],
])("%s", (_, milliseconds, receivedBytes, announcedBytes, isLate) => {
  expect(isTooSlow({ milliseconds, receivedBytes, announcedBytes }, pace)).toBe(isLate);
});
