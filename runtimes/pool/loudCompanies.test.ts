import { expect, test } from "vitest";
import { makeLoudRule } from "./loudCompanies.ts";

/** Calls the rule each second, with the cores that each company uses meanwhile. */
function makeClock(cores: number) {
  const rule = makeLoudRule(cores);
  let now = 0;
  return (seconds: number, use: Readonly<Record<string, number>>): readonly string[] => {
    let loud: ReadonlySet<string> = new Set();
    for (let second = 0; second < seconds; second += 1) {
      now += 1_000;
      loud = rule(new Map(Object.entries(use).map(([company, used]) => [company, used * 1_000])), now);
    }
    return [...loud];
  };
}

test("a company that uses more than half of the machine for some seconds is loud", () => {
  const pass = makeClock(2);
  expect(pass(2, { busy: 1.5, quiet: 0.3 })).toEqual([]);
  expect(pass(8, { busy: 1.5, quiet: 0.3 })).toEqual(["busy"]);
  expect(pass(600, { busy: 1.5, quiet: 0.3 })).toEqual(["busy"]);
});

test("it stays loud until it uses less than a fifth, even if its processes have ended", () => {
  const pass = makeClock(2);
  pass(60, { busy: 2 });
  expect(pass(60, { busy: 0.5 })).toEqual(["busy"]);
  expect(pass(60, { busy: 0.3 })).toEqual([]);
  pass(60, { busy: 2 });
  expect(pass(1, {})).toEqual(["busy"]);
  expect(pass(30, {})).toEqual([]);
});

test("of several companies, the quietest that use half together are not loud", () => {
  expect(makeClock(2)(60, { a: 0.45, b: 0.4, c: 0.35, d: 0.3, e: 0.01 }).toSorted()).toEqual(["a", "b"]);
});

test("a single process is not loud on a machine with several processors", () => {
  for (const cores of [2, 16]) expect(makeClock(cores)(600, { busy: 0.98, quiet: 0.01 })).toEqual([]);
});
