import { describe, expect, test } from "vitest";
import { type Load, observe, stepsFor } from "./fairness.ts";

const halfLife = 3_000;

/** Returns the load after `milliseconds` of using `cores`, observed every half second. */
function after(load: Load, cores: number, milliseconds: number): Load {
  let next = load;
  for (let now = load.at + 500; now <= load.at + milliseconds; now += 500) {
    next = observe(next, cores * 500, now, halfLife);
  }
  return next;
}

const idle: Load = { cores: 0, at: 0 };

describe("a load", () => {
  test("reaches half of the usage after one half-life", () => {
    expect(after(idle, 2, halfLife).cores).toBeCloseTo(1);
  });

  test("approaches the usage, and decays afterwards", () => {
    const busy = after(idle, 1, 30_000);
    expect(busy.cores).toBeCloseTo(1, 2);
    expect(after(busy, 0, 2 * halfLife).cores).toBeCloseTo(0.25, 2);
  });

  test("does not depend on the interval of observations", () => {
    const once = observe(idle, 6_000, 6_000, halfLife);
    expect(once.cores).toBeCloseTo(after(idle, 1, 6_000).cores);
  });

  test("stays the same if no time has passed, or the clock went back", () => {
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
])("with $cores cores used, the priority is lowered by $steps steps", ({ cores, steps }) => {
  expect(stepsFor({ used: cores, wanted: cores })).toBe(steps);
});

test.each([
  {
    description: "waiting for a busy neighbour does not lower the priority",
    used: 0.3,
    wanted: 1,
    before: 5,
    steps: 5,
  },
  { description: "waiting does not raise the priority", used: 0.3, wanted: 1, before: 9, steps: 9 },
  {
    description: "using less because of a low priority does not raise it",
    used: 0.1,
    wanted: 2,
    before: 19,
    steps: 19,
  },
  { description: "wanting less raises the priority", used: 0.1, wanted: 0.6, before: 19, steps: 9 },
  { description: "a quiet environment has the default priority", used: 0, wanted: 0, before: 19, steps: 5 },
  { description: "using more lowers the priority", used: 0.9, wanted: 0.9, before: 9, steps: 19 },
])("$description", ({ used, wanted, before, steps }) => {
  expect(stepsFor({ used, wanted }, before)).toBe(steps);
});

test("a site at full load gets the lowest priority within 3 s, and the default again in less than 15 s", () => {
  const busy = after(idle, 2, 3_000).cores;
  expect(stepsFor({ used: busy, wanted: busy })).toBe(19);
  const calm = after({ ...after(idle, 2, 60_000) }, 0, 15_000).cores;
  expect(stepsFor({ used: calm, wanted: calm }, 19)).toBe(5);
});

test("a site with one visitor keeps the default priority, even next to a busy one", () => {
  let [used, wanted] = [idle, idle];
  // A page of 150 ms every half second, which waits twice as long for a CPU.
  for (let now = 500; now < 60_000; now += 500) {
    used = observe(used, 150, now, halfLife);
    wanted = observe(wanted, 450, now, halfLife);
  }
  expect(stepsFor({ used: used.cores, wanted: wanted.cores })).toBe(5);
});
