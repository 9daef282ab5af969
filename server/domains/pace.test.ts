import { expect, test } from "vitest";
import { secondsUntilCheck } from "./pace.ts";

const asked = (ageSeconds: number, more: { isRight?: boolean; failures?: number } = {}) =>
  secondsUntilCheck({ ageSeconds, isRight: false, failures: 0, ...more }, 0);

test("what was just added is looked at every few seconds, and later less and less often", () => {
  const ages = [0, 10, 60, 600, 3_600, 86_400, 1_000_000];
  expect(ages.map((age) => asked(age))).toEqual([5, 5, 6, 60, 360, 8_640, 21_600]);
});

test("what is right is looked at a few times a day", () => {
  expect(asked(1, { isRight: true })).toBe(21_600);
});

test("a resolver without an answer is asked less and less often, but within the hour", () => {
  expect([1, 2, 3, 8, 9, 10, 1_000].map((failures) => asked(0, { failures }))).toEqual([
    10, 20, 40, 1_280, 2_560, 3_600, 3_600,
  ]);
});

test("not all at the same moment", () => {
  const facts = { ageSeconds: 600, isRight: true, failures: 0 };
  expect(secondsUntilCheck(facts, 1)).toBeCloseTo(0.8 * secondsUntilCheck(facts, 0));
});
