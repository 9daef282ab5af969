import { describe, expect, test } from "vitest";
import { type Load, observe, stepsFor } from "./fairness.ts";

const halfLife = 3_000;

/** The load after so long of wanting so many processors, looked at every half second. */
function after(load: Load, cores: number, milliseconds: number): Load {
  let next = load;
  for (let now = load.at + 500; now <= load.at + milliseconds; now += 500) {
    next = observe(next, cores * 500, now, halfLife);
  }
  return next;
}

const rested: Load = { cores: 0, at: 0 };

describe("a load", () => {
  test("is half of what is wanted after the time in which the past counts half", () => {
    expect(after(rested, 2, halfLife).cores).toBeCloseTo(1);
  });

  test("comes to what is wanted, and goes again", () => {
    const busy = after(rested, 1, 30_000);
    expect(busy.cores).toBeCloseTo(1, 2);
    expect(after(busy, 0, 2 * halfLife).cores).toBeCloseTo(0.25, 2);
  });

  test("does not depend on how often it is looked at", () => {
    const seldom = observe(rested, 6_000, 6_000, halfLife);
    expect(seldom.cores).toBeCloseTo(after(rested, 1, 6_000).cores);
  });

  test("is as before where no time has passed, or the clock went back", () => {
    const load = { cores: 0.5, at: 1_000 };
    expect(observe(load, 100, 1_000, halfLife)).toBe(load);
    expect(observe(load, 100, 900, halfLife)).toBe(load);
  });
});

test.each([
  { cores: 0, steps: 5 },
  { cores: 0.54, steps: 5 },
  { cores: 0.55, steps: 9 },
  { cores: 0.7, steps: 14 },
  { cores: 0.85, steps: 19 },
  { cores: 8, steps: 19 },
])("who gets $cores processors stands $steps steps behind", ({ cores, steps }) => {
  expect(stepsFor({ got: cores, wanted: cores })).toBe(steps);
});

test.each([
  { what: "who waits for a busy neighbour is not sent back for it", got: 0.3, wanted: 1, before: 5, steps: 5 },
  { what: "who waits stays where it is", got: 0.3, wanted: 1, before: 9, steps: 9 },
  { what: "who gets less because it stands back stays there", got: 0.1, wanted: 2, before: 19, steps: 19 },
  { what: "who wants less comes forward", got: 0.1, wanted: 0.6, before: 19, steps: 9 },
  { what: "who is quiet is as all are", got: 0, wanted: 0, before: 19, steps: 5 },
  { what: "who gets more goes back", got: 0.9, wanted: 0.9, before: 9, steps: 19 },
])("$what", ({ got, wanted, before, steps }) => {
  expect(stepsFor({ got, wanted }, before)).toBe(steps);
});

test("a site at full load is behind all others within three seconds, and beside them again in less than fifteen", () => {
  const busy = after(rested, 2, 3_000).cores;
  expect(stepsFor({ got: busy, wanted: busy })).toBe(19);
  const calm = after({ ...after(rested, 2, 60_000) }, 0, 15_000).cores;
  expect(stepsFor({ got: calm, wanted: calm }, 19)).toBe(5);
});

test("a site with one visitor who reads is as all are, also beside one that takes most of the processors", () => {
  let [got, wanted] = [rested, rested];
  // A page of 150 ms every half second, of which each waits for as long again and more.
  for (let now = 500; now < 60_000; now += 500) {
    got = observe(got, 150, now, halfLife);
    wanted = observe(wanted, 450, now, halfLife);
  }
  expect(stepsFor({ got: got.cores, wanted: wanted.cores })).toBe(5);
});
