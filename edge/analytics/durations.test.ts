import { expect, test } from "vitest";
import { bucketOf, percentileOf } from "./durations.ts";

function countsOf(durations: readonly number[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const each of durations) counts.set(bucketOf(each), (counts.get(bucketOf(each)) ?? 0) + 1);
  return counts;
}

test.each([0.5, 3, 47, 250, 999, 61_000])("a percentile of %f ms is exact to within 9 percent", (duration) => {
  const found = percentileOf(countsOf([duration]), 0.5) ?? 0;
  expect(Math.abs(found / duration - 1)).toBeLessThan(0.09);
});

test("half of the durations are below the median, and 95 percent below the 95th percentile", () => {
  const counts = countsOf(Array.from({ length: 1_000 }, (_, index) => index + 1));
  expect(percentileOf(counts, 0.5)).toBeGreaterThan(450);
  expect(percentileOf(counts, 0.5)).toBeLessThan(550);
  expect(percentileOf(counts, 0.95)).toBeGreaterThan(860);
  expect(percentileOf(counts, 0.95)).toBeLessThan(1_040);
});

test("a few slow responses are in the 95th percentile, but not in the median", () => {
  const counts = countsOf([...Array.from({ length: 90 }, () => 10), ...Array.from({ length: 10 }, () => 5_000)]);
  expect(percentileOf(counts, 0.5)).toBeLessThan(11);
  expect(percentileOf(counts, 0.95)).toBeGreaterThan(4_500);
});

test("there is no percentile of nothing", () => {
  expect(percentileOf(new Map(), 0.5)).toBeNull();
});

test("extreme durations are in the first and the last bucket", () => {
  expect([0, 0.001, 1e12].map(bucketOf)).toEqual([0, 0, 95]);
});
