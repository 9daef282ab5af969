import { expect, test } from "vitest";
import { makeOtherProgramsRule } from "./otherPrograms.ts";

const cores = 2;

/** Returns a function that lets other programs use so many cores for so many seconds, and returns the last decision. */
function rule() {
  const areBusy = makeOtherProgramsRule(cores, 0);
  let now = 0;
  let last = true;
  return (used: number, seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      now += 1_000;
      last = areBusy(used * 1_000, now);
    }
    return last;
  };
}

test("other programs are taken for busy until they have used little for ten seconds", () => {
  const use = rule();
  expect(use(0, 9)).toBe(true);
  expect(use(0, 1)).toBe(false);
});

test("other programs that use much are busy within a second, and until ten seconds after that", () => {
  const use = rule();
  use(0, 20);
  expect(use(2, 1)).toBe(true);
  expect(use(2, 60)).toBe(true);
  expect(use(0, 10)).toBe(true);
  expect(use(0, 10)).toBe(false);
});

test("other programs that use a little are not busy", () => {
  const use = rule();
  expect(use(0.2, 60)).toBe(false);
  expect(use(0.4, 60)).toBe(false);
});
