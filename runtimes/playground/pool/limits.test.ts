import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { isNew, isWorthWaiting } from "./limits.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A worker with so many requests, whose first one began so many milliseconds ago; null: PHP boots. */
const worker = (requests: number, began: number | null) => ({
  requests,
  firstBegan: began === null ? null : performance.now() - began,
});

describe("a worker that is asked for its first page", () => {
  test("is new while PHP boots, and then for two seconds", () => {
    expect([null, 0, 1_999, 2_000].map((began) => isNew(worker(1, began)))).toEqual([true, true, true, false]);
  });

  test("is not new any more when it is asked again", () => {
    expect(isNew(worker(2, 100))).toBe(false);
  });
});

describe("a request for a site whose workers are all busy", () => {
  test("waits for a quarter of a second, because one of them is mostly free by then", () => {
    const busy = [worker(7, 60_000)];
    expect([0, 249, 250].map((waited) => isWorthWaiting(busy, waited))).toEqual([true, true, false]);
  });

  test("waits longer for one that is at its first page: a second one beside it would only make both slower", () => {
    expect(isWorthWaiting([worker(7, 60_000), worker(1, 1_500)], 1_500)).toBe(true);
    expect(isWorthWaiting([worker(1, 2_500)], 2_500)).toBe(false);
  });

  test("does not wait where the site has no worker", () => {
    expect(isWorthWaiting([], 0)).toBe(false);
  });
});
