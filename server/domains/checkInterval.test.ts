import { expect, test } from "vitest";
import { secondsUntilCheck } from "./checkInterval.ts";

const interval = (ageSeconds: number, more: { isRight?: boolean; failures?: number } = {}) =>
  secondsUntilCheck({ ageSeconds, isRight: false, failures: 0, ...more }, 0);

test("a new domain is checked every few seconds, an older one less often", () => {
  const ages = [0, 10, 60, 600, 3_600, 86_400, 1_000_000];
  expect(ages.map((age) => interval(age))).toEqual([5, 5, 6, 60, 360, 8_640, 21_600]);
});

test("a correct domain is checked a few times a day", () => {
  expect(interval(1, { isRight: true })).toBe(21_600);
});

test("failed checks back off up to an hour", () => {
  expect([1, 2, 3, 8, 9, 10, 1_000].map((failures) => interval(0, { failures }))).toEqual([
    10, 20, 40, 1_280, 2_560, 3_600, 3_600,
  ]);
});

test("checks are spread by up to 20 percent", () => {
  const facts = { ageSeconds: 600, isRight: true, failures: 0 };
  expect(secondsUntilCheck(facts, 1)).toBeCloseTo(0.8 * secondsUntilCheck(facts, 0));
});
