import { expect, test } from "vitest";
import { type CompanyUse, observeUse, weightHalfLife, weightsOf } from "./companyWeights.ts";

/** What companies use after they have used these cores for some seconds. */
function after(seconds: number, cores: Readonly<Record<string, number>>, before: CompanyUse = new Map()): CompanyUse {
  let use = before;
  const start = Math.max(0, ...[...before.values()].map(({ at }) => at));
  for (let second = 0; second <= seconds; second += 1) {
    const used = Object.entries(cores).map(([company, each]) => [company, each * 1_000] as const);
    use = observeUse(use, new Map(used), { now: start + second * 1_000, halfLife: weightHalfLife });
  }
  return use;
}

const weights = (use: CompanyUse) => Object.fromEntries(weightsOf(use));

test("companies that use the same have the same weight", () => {
  expect(weights(after(60, { a: 0.4, b: 0.4 }))).toEqual({ a: 1 / 8, b: 1 / 8 });
  expect(weights(after(60, { a: 0, b: 0 }))).toEqual({ a: 1 / 8, b: 1 / 8 });
});

test("a company that used less than others comes first", () => {
  expect(weights(after(60, { quiet: 0.05, busy: 1.5 }))).toEqual({ quiet: 8, busy: 1 / 8 });
  expect(weights(after(60, { less: 0.5, more: 1, idle: 0 }))).toEqual({ less: 1 / 2, more: 1 / 8, idle: 8 });
});

test("a new company comes first", () => {
  expect(weights(after(2, { busy: 1, newcomer: 0.8 }, after(60, { busy: 1 })))).toEqual({ busy: 1 / 8, newcomer: 8 });
});

test("what a company used is forgotten after some minutes", () => {
  const busy = after(60, { quiet: 0.1, busy: 1.5 });
  expect(weights(after(300, { quiet: 0.1, busy: 0.1 }, busy))).toEqual({ quiet: 1 / 8, busy: 1 / 8 });
});
