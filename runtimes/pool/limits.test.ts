import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { isAtFirstRequest, shouldWait } from "./limits.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Creates a worker with this many requests, whose first one began `began` milliseconds ago; null: PHP is booting. */
const worker = (requests: number, began: number | null) => ({
  requests,
  firstBegan: began === null ? null : performance.now() - began,
});

describe("a worker at its first page", () => {
  test("is at its first page while PHP boots, and then for at most two seconds", () => {
    expect([null, 0, 1_999, 2_000].map((began) => isAtFirstRequest(worker(1, began)))).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  test("is past its first page with the second request", () => {
    expect(isAtFirstRequest(worker(2, 100))).toBe(false);
  });
});

describe("a request whose site's workers are all busy", () => {
  test("waits a quarter of a second for one to become free", () => {
    const busy = [worker(7, 60_000)];
    expect([0, 249, 250].map((waited) => shouldWait(busy, waited))).toEqual([true, true, false]);
  });

  test("waits longer for a worker at its first page", () => {
    expect(shouldWait([worker(7, 60_000), worker(1, 1_500)], 1_500)).toBe(true);
    expect(shouldWait([worker(1, 2_500)], 2_500)).toBe(false);
  });

  test("does not wait if the site has no worker", () => {
    expect(shouldWait([], 0)).toBe(false);
  });
});
