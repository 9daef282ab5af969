import { expect, test } from "vitest";
import { createSuspects, jobSource, partyOf } from "./readings.ts";

test("the pause after a failure doubles up to an hour", () => {
  let now = 0;
  const suspects = createSuspects(() => now);
  const pauses = Array.from({ length: 8 }, () => {
    suspects.addFailure("a");
    const begin = now;
    while (suspects.isPaused("a")) now += 60_000;
    return (now - begin) / 60_000;
  });
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  suspects.remove("a");
  suspects.addFailure("a");
  now += 60_000;
  expect(suspects.isPaused("a")).toBe(false);
});

test("environments of a company share its turns", () => {
  const one = { id: "one", number: 1 };
  expect(partyOf([{ ...one, companyId: "company" }])).toBe("company");
  expect(partyOf([one])).toBe("one");
});

test("the time of a reading counts towards a company only if it reads nothing of others", () => {
  const of = (companyId?: string) => ({ id: "x", number: 5, ...(companyId !== undefined && { companyId }) });
  expect(jobSource([of("a"), of("a")])).toEqual({ number: 5, companyId: "a" });
  expect(jobSource([of("a"), of("b")])).toEqual({ number: 5 });
  expect(jobSource([of()])).toEqual({ number: 5 });
});
