import { expect, test } from "vitest";
import { median, percentile } from "./statistics.ts";

test("the median and the 95th percentile are measurements themselves", () => {
  const measurements = [40, 10, 30, 20, 1000];
  expect(median(measurements)).toBe(30);
  expect(percentile(measurements, 0.95)).toBe(1000);
  expect(percentile([7], 0.5)).toBe(7);
});

test("no measurements is an error", () => {
  expect(() => median([])).toThrow("No measurements");
});
